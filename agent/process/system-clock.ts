// Reads the process's clock. performance.now() never goes backwards and ignores changes of the wall clock.
import type { Clock } from "./clock.ts";

export const systemClock: Clock = {
	now: () => performance.now(),
	after: (ms, callback) => {
		const timer = setTimeout(callback, ms);
		return () => clearTimeout(timer);
	},
	wallSeconds: () => Math.floor(Date.now() / 1000),
};
