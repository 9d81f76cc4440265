// Describes the agent's clocks and timers. Code gets them as an argument, so that the exploration can control them.
export interface Clock {
	/** Milliseconds from an arbitrary start, never backwards. */
	now(): number;
	/** Calls back once; the returned function cancels. */
	after(ms: number, callback: () => void): () => void;
	/** Seconds since the epoch, only for people: no decision depends on it. */
	wallSeconds(): number;
}
