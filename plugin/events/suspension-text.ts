// How long a budget has been suspended, by whom and why, for people; all of it as claimed by the user who suspended it.
import { oneLine } from "../../disruption/printable.ts";
import type { Suspension } from "../../disruption/budget/suspension.ts";
import { formatElapsed } from "../flags/duration.ts";

/** "by alice@laptop for 12m: database upgrade", of what is shown as it is at this moment. */
export function suspensionNow({ by, since, reason }: Suspension, now: number): string {
	return `by ${by} for ${formatElapsed(now - Date.parse(since))}${reason === undefined ? "" : `: ${reason}`}`;
}

/** A warning about a budget that is suspended in every cluster that has it. `suspension`: none if nothing readable was written down. */
export function suspendedText(budget: string, suspension: Suspension | undefined, now: number): string {
	const who = suspension ? oneLine(suspensionNow(suspension, now)) : "it does not say by whom";
	return `budget ${budget} is suspended and blocks no eviction, ${who}`;
}
