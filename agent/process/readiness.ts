// Whether the agent is ready to serve, and if not, why.
export class Readiness {
	readonly #checks: (() => string | undefined)[] = [];

	/** Adds a check that is called each time: it returns why the agent is not ready, or undefined. */
	add(check: () => string | undefined): void {
		this.#checks.push(check);
	}

	/** Empty if the agent is ready. */
	get reasons(): readonly string[] {
		return this.#checks.map((check) => check()).filter((reason) => reason !== undefined);
	}
}
