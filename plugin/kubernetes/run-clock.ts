// Provides the clock with which commands measure ages. It keeps running while the machine sleeps.
//
// On Linux, performance.now() stops during sleep, so a list would still look fresh after a laptop was closed for a day.
// Guarantee: between two readings in a row, this clock advances at least as far as the monotonic clock. If the wall clock advances further
// by more than 100 ms, this clock advances as far as the wall clock. A wall clock that is set forward makes things look older, so they are
// requested again. One that is set back changes nothing.
// Not guaranteed: noticing a sleep if the wall clock is set back by as much between the same two readings.

/** Rounding and slewing may cause smaller differences. */
const toleranceMs = 100;

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

/** Its readings mean nothing to other processes. */
export const runClock = createRunClock(
	() => performance.now(),
	() => Date.now(),
);
