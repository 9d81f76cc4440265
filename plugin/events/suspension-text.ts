// Says for how long a budget has been suspended, by whom and why. All of it is what the user who suspended it claims.
import { oneLine } from "../../disruption/printable.ts";
import type { Suspension } from "../../disruption/budget/suspension.ts";
import { formatElapsed } from "../flags/duration.ts";

/** Returns, for example, "by alice@laptop for 12m: database upgrade", as of `now`. */
export function suspensionNow({ by, since, reason }: Suspension, now: number): string {
	return `by ${by} for ${formatElapsed(now - Date.parse(since))}${reason === undefined ? "" : `: ${reason}`}`;
}

/**
 * Returns a warning about a budget that is suspended in every cluster that has it. `suspension` is undefined if there is no readable
 * annotation.
 */
export function suspendedText(budget: string, suspension: Suspension | undefined, now: number): string {
	const who = suspension ? oneLine(suspensionNow(suspension, now)) : "it does not say by whom";
	return `budget ${budget} is suspended and blocks no eviction, ${who}`;
}
