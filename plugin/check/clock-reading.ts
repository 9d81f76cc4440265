// How far another clock is ahead of this machine's, as far as one answer tells.

/** Known within so much, for the answer took its time. */
export interface ClockReading {
	readonly aheadMs: number;
	readonly withinMs: number;
}

/** It was read somewhen between `askedAt` and `answeredAt`. `coarseMs`: how far it may be beyond what it says. */
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
