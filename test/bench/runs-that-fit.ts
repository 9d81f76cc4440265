// Decides how many times each measurement of a full run is repeated, so that all of them fit into 15 minutes even in a slow hour.
import type { Measurement } from "./measurement.ts";

/** The rest of the 15 minutes is for clusters that start and stop. */
export const limitMs = 14 * 60_000;

export interface Progress {
	readonly elapsedMs: number;
	/** The time that the measurements so far took. */
	readonly measuredMs: number;
	/** The time that they would have taken in a quiet hour. 0 at the beginning. */
	readonly expectedMs: number;
}

/**
 * Returns how many times the first of `rest`, the measurements still to come, may run. At least once, and in full if its time is not known.
 * All of them share the time that is left after one run of each.
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

/** Returns what this number of runs takes in a quiet hour. */
export function quietMs({ seconds }: Measurement, runs: number): number {
	return seconds === undefined ? 0 : (seconds.once + seconds.each * runs) * 1_000;
}
