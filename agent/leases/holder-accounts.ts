// Remembers, for people, whose token was used to acquire a Lease. This process's memory may have gaps, and no decision uses it.

/** More than the drains of a large fleet hold at the same time. They take about 1 MB if user names are as long as allowed. */
const mostHoldings = 2_000;
/** In characters. User names may have any length. */
const longestAccount = 253;

export class HolderAccounts {
	/** By nonce, oldest first. */
	readonly #byNonce = new Map<string, string>();

	asked(nonce: string, account: string): void {
		this.#byNonce.delete(nonce);
		this.#byNonce.set(nonce, account.slice(0, longestAccount).toWellFormed());
		const [oldest] = this.#byNonce.keys();
		if (this.#byNonce.size > mostHoldings && oldest !== undefined) this.#byNonce.delete(oldest);
	}

	find(nonce: string): string | undefined {
		return this.#byNonce.get(nonce);
	}
}
