import { median } from "../statistics.ts";

/** Returns the memory in the last fifth, divided by that in the second fifth. The first is left out because caches still fill. */
export function growth(megabytes: readonly number[]): number {
	const fifth = Math.floor(megabytes.length / 5);
	return median(megabytes.slice(-fifth)) / median(megabytes.slice(fifth, 2 * fifth));
}
