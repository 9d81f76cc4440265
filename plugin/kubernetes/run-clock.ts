// The clock by which a run says how old something is. It goes on while the machine sleeps.
//
// Linux' monotonic clock (performance.now()) stands still meanwhile: what was listed before a laptop was closed would still be fresh
// when it is opened a day later. Guarantee: between two readings it advances at least as far as the monotonic clock, and as far as the
// wall clock where that went further by more than rounding and slewing come to. A wall clock that is set forward makes things look
// older, and they are asked for again; one that is set back changes nothing. Not guaranteed: a sleep is seen where the wall clock
// is set back by as much between the same two readings.

/** Less is no sleep. */
const toleranceMs = 100;

/** Both in ms. */
export function createRunClock(monotonic: () => number, wall: () => number): () => number {
	let last = { monotonic: monotonic(), wall: wall() };
	let asleepMs = 0;
	return () => {
		const next = { monotonic: monotonic(), wall: wall() };
		const aheadMs = next.wall - last.wall - (next.monotonic - last.monotonic);
		if (aheadMs > toleranceMs) asleepMs += aheadMs;
		last = next;
		return next.monotonic + asleepMs;
	};
}

/** Of this process: whatever is compared must have been read from it. */
export const runClock = createRunClock(
	() => performance.now(),
	() => Date.now(),
);
