import type { Clock } from "../../../agent/process/clock.ts";

/** Returns a clock that runs `factor` times as fast as the machine's. Only its wall clock is the machine's. */
export function createFastClock(factor: number): Clock {
	return {
		now: () => performance.now() * factor,
		after(ms, callback) {
			const timer = setTimeout(callback, ms / factor);
			return () => clearTimeout(timer);
		},
		wallSeconds: () => Math.floor(Date.now() / 1000),
	};
}
