// The agent's own monotonic clock and timers, as an argument, so that the exploration can control them.
export interface Clock {
	/** Milliseconds from an arbitrary start, never backwards. */
	now(): number;
	/** Calls back once; the returned function cancels. */
	after(ms: number, callback: () => void): () => void;
	/** Seconds since the epoch, only for people: nothing is ever judged by it. */
	wallSeconds(): number;
}
