// The environment of a round, with a clock that only the test moves.
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import { createManualClock, sleepOn } from "../support/manual-clock.ts";

export interface ManualRuntime extends RoundRuntime {
	readonly leftBehind: readonly unknown[];
	giveBack(): Promise<void>;
	/** Moves the clock in steps, and runs all work that does not wait for the clock. */
	advance(ms: number): Promise<void>;
}

/** Shorter than any duration of the round, so that a timer's effects are seen before the next timer. */
const stepMs = 50;

export function createManualRuntime(): ManualRuntime {
	const clock = createManualClock();
	const leftBehind: unknown[] = [];
	const again: (() => Promise<void>)[] = [];
	let ids = 0;
	return {
		leftBehind,
		now: () => clock.now(),
		newId: () => `id-${++ids}`,
		sleep: (ms, signal) => sleepOn(clock, ms, signal),
		onLeftBehind(problem, giveBack) {
			leftBehind.push(problem);
			if (giveBack) again.push(giveBack);
		},
		async giveBack() {
			await Promise.all(again.splice(0).map((giveBack) => giveBack()));
		},
		async advance(ms) {
			for (let left = ms; left > 0; left -= stepMs) {
				clock.advance(Math.min(stepMs, left));
				await settle();
			}
		},
	};
}

export function settle(): Promise<void> {
	return new Promise((resolve) => {
		setImmediate(resolve);
	});
}
