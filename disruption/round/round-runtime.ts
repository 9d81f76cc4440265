// What the round needs from outside: a clock, ids and waiting. Arguments, because the domain has none of its own.
export interface RoundRuntime {
	/** Monotonic milliseconds. */
	now(): number;
	/** A new unguessable id: a reservation's, or an acquisition's nonce. */
	newId(): string;
	/** Resolves after `ms`, or at once when `signal` aborts. */
	sleep(ms: number, signal: AbortSignal): Promise<void>;
	/**
	 * Told of what could not be given back; it ends by itself, by the lease time or by the fence. `giveBack` tries again, as
	 * often and as late as one likes: nothing will be done under what it gives back. It rejects as the first try did.
	 */
	onLeftBehind?(problem: unknown, giveBack?: () => Promise<void>): void;
}
