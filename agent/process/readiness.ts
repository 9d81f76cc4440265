// Tells whether the agent is ready to serve, and if not, why.
export class Readiness {
	readonly #checks: (() => string | undefined)[] = [];

	/** Adds a check that is called each time: it returns why the agent is not ready, or undefined. */
	add(check: () => string | undefined): void {
		this.#checks.push(check);
	}

	/** Makes the agent not ready, for this reason, until the returned function is called. */
	waitFor(reason: string): () => void {
		let isOver = false;
		this.add(() => (isOver ? undefined : reason));
		return () => {
			isOver = true;
		};
	}

	/** The reasons why the agent is not ready; empty if it is. */
	get reasons(): readonly string[] {
		return this.#checks.map((check) => check()).filter((reason) => reason !== undefined);
	}
}
