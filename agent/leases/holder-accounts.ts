// Whose token it was that a Lease was acquired with, for people. It is this process's own memory, so it may know nothing; no
// decision asks it.

/** As many as drains of a large fleet hold at once, with room; less than half a megabyte. */
const mostHoldings = 2_000;
/** Names of users may have any length. */
const longestAccount = 253;

export class HolderAccounts {
	/** By nonce, the oldest first. */
	readonly #byNonce = new Map<string, string>();

	/** Somebody asks for a Lease with this nonce. */
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
