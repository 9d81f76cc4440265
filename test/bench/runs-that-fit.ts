// Decides how often each measurement of a full run repeats, so that the run ends within 15 minutes even on a slow machine.
import type { Measurement } from "./measurement.ts";

/** The rest of the 15 minutes is for starting and stopping clusters. */
export const limitMs = 14 * 60_000;

export interface Progress {
	readonly elapsedMs: number;
	/** How long the measurements with an expected duration took so far. */
	readonly measuredMs: number;
	/** How long the same measurements take on an idle machine. */
	readonly expectedMs: number;
}

/**
 * Returns how often the first of the remaining measurements `rest` may run: at least once, and in full without an expected duration. They
 * share the time that remains after one run of each.
 */
export function runsThatFit(rest: readonly Measurement[], { elapsedMs, measuredMs, expectedMs }: Progress): number {
	const [next] = rest;
	if (!next) return 0;
	const { full } = next.runs;
	if (next.seconds === undefined) return full;
	const slowness = expectedMs > 0 ? measuredMs / expectedMs : 1;
	const leftMs = (limitMs - elapsedMs) / slowness;
	const onceMs = rest.reduce((sum, each) => sum + quietMs(each, 1), 0);
	const repeatedMs = rest.reduce((sum, each) => sum + quietMs(each, each.runs.full), 0) - onceMs;
	if (repeatedMs <= 0) return full;
	const share = Math.min(1, Math.max(0, (leftMs - onceMs) / repeatedMs));
	return 1 + Math.round((full - 1) * share);
}

/** Returns the expected duration on an idle machine, or 0 if none is known. */
export function quietMs({ seconds }: Measurement, runs: number): number {
	return seconds === undefined ? 0 : (seconds.once + seconds.each * runs) * 1_000;
}
