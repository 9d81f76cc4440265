// Estimates from one answer how far another clock is ahead of this machine's.

/** The clock is ahead by `aheadMs`, give or take `withinMs`, because the answer took time and the reading may be coarse. */
export interface ClockReading {
	readonly aheadMs: number;
	readonly withinMs: number;
}

/**
 * Compares a clock that was read at some moment between `askedAt` and `answeredAt` with this machine's. `coarseMs`: how far the true time
 * may be beyond the reading.
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
