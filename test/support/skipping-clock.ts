import type { Clock } from "../../agent/process/clock.ts";

/**
 * The machine's clock, which can also skip ahead. It is for tests over real sockets, which a stopped clock would block and a fast clock
 * would time out.
 */
export interface SkippingClock extends Clock {
	/** Moves the clock by `ms` and runs the due timers once each, in order. */
	skip(ms: number): void;
	/** The durations of all timers in ms, in the order in which they were set. */
	readonly set: readonly number[];
}

interface Timer {
	readonly at: number;
	readonly callback: () => void;
	handle: NodeJS.Timeout;
}

export function createSkippingClock(): SkippingClock {
	let skipped = 0;
	const timers = new Set<Timer>();
	const set: number[] = [];
	const now = () => performance.now() + skipped;
	const run = (timer: Timer): void => {
		if (timers.delete(timer)) timer.callback();
	};
	return {
		now,
		wallSeconds: () => Math.floor(Date.now() / 1000),
		set,
		after(ms, callback) {
			set.push(ms);
			const timer: Timer = { at: now() + ms, callback, handle: setTimeout(() => run(timer), ms) };
			timers.add(timer);
			return () => {
				timers.delete(timer);
				clearTimeout(timer.handle);
			};
		},
		skip(ms) {
			skipped += ms;
			const due = [...timers].filter(({ at }) => at <= now()).toSorted((a, b) => a.at - b.at);
			for (const timer of timers) {
				clearTimeout(timer.handle);
				timer.handle = setTimeout(() => run(timer), Math.max(0, timer.at - now()));
			}
			for (const timer of due) run(timer);
		},
	};
}

/** For `expect.poll`: on a busy machine, data arrives late over a socket. */
export const patiently = { timeout: 10_000, interval: 10 };
