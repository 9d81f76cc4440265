// Whether the agent is ready to serve, and if not, why.
export class Readiness {
	readonly #checks: (() => string | undefined)[] = [];

	/** Adds a check that is called each time: it returns why the agent is not ready, or undefined. */
	add(check: () => string | undefined): void {
		this.#checks.push(check);
	}

	/** The agent is not ready for this reason until the returned function is called. */
	waitFor(reason: string): () => void {
		let isOver = false;
		this.add(() => (isOver ? undefined : reason));
		return () => {
			isOver = true;
		};
	}

	/** Empty if the agent is ready. */
	get reasons(): readonly string[] {
		return this.#checks.map((check) => check()).filter((reason) => reason !== undefined);
	}
}
