import { median } from "../statistics.ts";

/** What is held in the last fifth over the second one: the first is for whatever is filled once. */
export function growth(megabytes: readonly number[]): number {
	const fifth = Math.floor(megabytes.length / 5);
	return median(megabytes.slice(-fifth)) / median(megabytes.slice(fifth, 2 * fifth));
}
