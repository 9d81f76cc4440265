export interface Spread {
	readonly median: number;
	readonly low: number;
	readonly high: number;
}

/** Returns the smallest sample that at least the given part (0 to 1) of all samples does not exceed. */
export function quantile(samples: readonly number[], part: number): number {
	const sorted = samples.toSorted((a, b) => a - b);
	const value = sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
	if (value === undefined) throw new Error("no samples");
	return value;
}

export function median(samples: readonly number[]): number {
	const sorted = samples.toSorted((a, b) => a - b);
	const upper = sorted[Math.floor(sorted.length / 2)];
	const lower = sorted[Math.floor((sorted.length - 1) / 2)];
	if (upper === undefined || lower === undefined) throw new Error("no samples");
	return (lower + upper) / 2;
}

export function spreadOf(samples: readonly number[]): Spread {
	return { median: median(samples), low: Math.min(...samples), high: Math.max(...samples) };
}
