// Describes a budget's suspension, as the user who suspended it states it.
import { oneLine } from "../../disruption/printable.ts";
import type { Suspension } from "../../disruption/budget/suspension.ts";
import { formatElapsed } from "../flags/duration.ts";

/** For example, "by alice@laptop for 12m: database upgrade". */
export function suspensionNow({ by, since, reason }: Suspension, now: number): string {
	return `by ${by} for ${formatElapsed(now - Date.parse(since))}${reason === undefined ? "" : `: ${reason}`}`;
}

/** Warns about a budget that is suspended in every cluster. `suspension`: undefined without a readable annotation. */
export function suspendedText(budget: string, suspension: Suspension | undefined, now: number): string {
	const who = suspension ? oneLine(suspensionNow(suspension, now)) : "it does not say by whom";
	return `budget ${budget} is suspended and blocks no eviction, ${who}`;
}
