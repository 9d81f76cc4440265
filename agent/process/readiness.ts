// Whether the agent is ready to serve, and if not, why.
export class Readiness {
	readonly #checks: (() => string | undefined)[] = [];

	/** Asked each time: the reason why it is not ready, or undefined. */
	add(check: () => string | undefined): void {
		this.#checks.push(check);
	}

	/** Empty where the agent is ready. */
	get reasons(): readonly string[] {
		return this.#checks.map((check) => check()).filter((reason) => reason !== undefined);
	}
}
