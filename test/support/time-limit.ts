// A limit of time that is over as soon as somebody is asked who never answers, and not before: however busy the machine is.

export interface TimeLimit {
	/** As complete() takes it. */
	readonly startTimer: (end: () => void, ms: number) => () => void;
	/** Aborts when the time is over. */
	readonly signal: AbortSignal;
	/** An answer that does not come. */
	readonly never: () => Promise<never>;
	/** The limits that were set, in milliseconds. */
	readonly limits: readonly number[];
}

export function createTimeLimit(): TimeLimit {
	const controller = new AbortController();
	const limits: number[] = [];
	return {
		startTimer(end, ms) {
			limits.push(ms);
			controller.signal.addEventListener("abort", end);
			return () => controller.signal.removeEventListener("abort", end);
		},
		signal: controller.signal,
		never() {
			// After the answers that are there.
			setImmediate(() => controller.abort());
			return new Promise(() => undefined);
		},
		limits,
	};
}
