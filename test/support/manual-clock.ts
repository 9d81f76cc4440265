import type { Clock } from "../../agent/process/clock.ts";

export interface ManualClock extends Clock {
	/** Moves the clock and runs the timers that become due, in order. */
	advance(ms: number): void;
}

export function sleepOn(clock: ManualClock, ms: number, signal: AbortSignal): Promise<void> {
	if (signal.aborted) return Promise.resolve();
	return new Promise((resolve) => {
		const cancel = clock.after(ms, resolve);
		signal.addEventListener(
			"abort",
			() => {
				cancel();
				resolve();
			},
			{ once: true },
		);
	});
}

export function createManualClock(): ManualClock {
	let now = 0;
	const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
	return {
		now: () => now,
		wallSeconds: () => Math.floor(now / 1000),
		after(ms, callback) {
			const timer = { at: now + ms, callback };
			timers.add(timer);
			return () => void timers.delete(timer);
		},
		advance(ms) {
			const end = now + ms;
			for (;;) {
				const due = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
				if (!due) break;
				timers.delete(due);
				now = Math.max(now, due.at);
				due.callback();
			}
			now = end;
		},
	};
}
