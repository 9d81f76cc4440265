// Defines the clock and timers that the agent gets as an argument, so that the exploration can control them.
export interface Clock {
	/** Milliseconds from an arbitrary start; never goes backwards. */
	now(): number;
	/** Calls back once; the returned function cancels. */
	after(ms: number, callback: () => void): () => void;
	/** Seconds since 1970, only for people: no decision depends on them. */
	wallSeconds(): number;
}
