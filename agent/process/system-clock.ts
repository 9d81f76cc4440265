// Reads the process's own clock. performance.now() does not go backwards, and changes of the wall clock do not affect it.
import type { Clock } from "./clock.ts";

export const systemClock: Clock = {
	now: () => performance.now(),
	after: (ms, callback) => {
		const timer = setTimeout(callback, ms);
		return () => clearTimeout(timer);
	},
	wallSeconds: () => Math.floor(Date.now() / 1000),
};
