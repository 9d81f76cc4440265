// A timeout that expires only when a test asks a source that never answers, so it does not depend on the machine's load.

export interface TimeLimit {
	/** The timer, as complete() expects it. After the timeout, the next one expires immediately. */
	readonly startTimer: (end: () => void, ms: number) => () => void;
	readonly signal: AbortSignal;
	/** Returns a promise that never settles, and lets the timeout expire. */
	readonly never: () => Promise<never>;
	/** The timeouts that were set, in ms. */
	readonly limits: readonly number[];
}

export function createTimeLimit(): TimeLimit {
	const controller = new AbortController();
	const limits: number[] = [];
	return {
		startTimer(end, ms) {
			limits.push(ms);
			if (controller.signal.aborted) {
				const immediate = setImmediate(end);
				return () => clearImmediate(immediate);
			}
			controller.signal.addEventListener("abort", end, { once: true });
			return () => controller.signal.removeEventListener("abort", end);
		},
		signal: controller.signal,
		never() {
			// The timeout comes after the answers that are already there.
			setImmediate(() => controller.abort());
			return new Promise(() => undefined);
		},
		limits,
	};
}
