// The outside services of a round: a clock, ids and waiting. They are arguments, because the domain has none of its own.
export interface RoundRuntime {
	/** Monotonic milliseconds. */
	now(): number;
	/** A new unguessable id, for a reservation or as the nonce of an acquisition. */
	newId(): string;
	/** Resolves after `ms`, or immediately when `signal` aborts. */
	sleep(ms: number, signal: AbortSignal): Promise<void>;
	/**
	 * Called when something could not be given back. It ends by itself, by the lease time or by the fence. `giveBack` tries again and rejects
	 * as the first try did. It may be called at any time and any number of times, because nothing will be done under what it gives back.
	 */
	onLeftBehind?(problem: unknown, giveBack?: () => Promise<void>): void;
}
