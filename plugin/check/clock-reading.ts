// Estimates from one answer how far another clock is ahead of this machine's.

/** The other clock is ahead by `aheadMs`, plus or minus `withinMs`. */
export interface ClockReading {
	readonly aheadMs: number;
	readonly withinMs: number;
}

/**
 * `readMs` is the time that the other clock showed at some moment between `askedAt` and `answeredAt`. The true time can be up to `coarseMs`
 * later than the reading.
 */
export function clockReading(
	readMs: number,
	{
		askedAt,
		answeredAt,
		coarseMs = 0,
	}: { readonly askedAt: number; readonly answeredAt: number; readonly coarseMs?: number },
): ClockReading {
	const halfway = (answeredAt - askedAt) / 2;
	return { aheadMs: readMs + coarseMs / 2 - (askedAt + halfway), withinMs: halfway + coarseMs / 2 };
}
