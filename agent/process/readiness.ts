// Tells whether the agent is ready to serve, and if not, why.
export class Readiness {
	readonly #checks: (() => string | undefined)[] = [];

	/** The check returns why the agent is not ready, or undefined. It is called each time `reasons` is read. */
	add(check: () => string | undefined): void {
		this.#checks.push(check);
	}

	/** Makes the agent not ready for this reason until the returned function is called. */
	waitFor(reason: string): () => void {
		let isOver = false;
		this.add(() => (isOver ? undefined : reason));
		return () => {
			isOver = true;
		};
	}

	get reasons(): readonly string[] {
		return this.#checks.map((check) => check()).filter((reason) => reason !== undefined);
	}
}
