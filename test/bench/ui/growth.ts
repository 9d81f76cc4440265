import { median } from "../statistics.ts";

/**
 * Returns the memory in the last fifth divided by that in the second one. The first fifth is left out, because some things are filled once.
 */
export function growth(megabytes: readonly number[]): number {
	const fifth = Math.floor(megabytes.length / 5);
	return median(megabytes.slice(-fifth)) / median(megabytes.slice(fifth, 2 * fifth));
}
