// Provides the clock of a watch. It is monotonic.
import type { WatchClock } from "../fleet/watched-member.ts";

export const watchClock: WatchClock = {
	now: () => performance.now(),
	pause: (ms, signal) =>
		new Promise((resolve, reject) => {
			const leave = (): void => {
				clearTimeout(timer);
				reject(signal.reason);
			};
			const timer = setTimeout(() => {
				signal.removeEventListener("abort", leave);
				resolve();
			}, ms);
			if (signal.aborted) leave();
			else signal.addEventListener("abort", leave, { once: true });
		}),
};
