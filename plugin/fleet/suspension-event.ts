// Builds and writes the Kubernetes Event that reports a suspension or its end.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import { budgetEvent } from "./budget-event.ts";
import { writePersonEvent } from "./person-event.ts";
import type { SuspensionTarget } from "./suspension-target.ts";

export interface SuspensionNote {
	readonly suspend: boolean;
	/** For example "alice@laptop", as claimed. */
	readonly by: string;
	/** Milliseconds since the epoch. */
	readonly at: number;
	readonly reason: string | undefined;
	/** The names in the fleet of the members in which the change is written. */
	readonly clusters: readonly string[];
}

/** Returns why writing failed; undefined on success. With `rehearse`, nothing is written. */
export async function tellSuspension(
	target: SuspensionTarget,
	note: SuspensionNote,
	how: { readonly rehearse: boolean },
): Promise<string | undefined> {
	return writePersonEvent(target.context, target.name.namespace, suspensionEvent(target, note), how);
}

export function suspensionEvent(
	{ name, found }: SuspensionTarget,
	{ suspend, by, at, reason, clusters }: SuspensionNote,
): object {
	const what = suspend ? "suspended" : "unsuspended";
	const effect = suspend ? "it blocks no eviction" : "it applies again";
	const why = reason === undefined ? "" : `: ${reason}`;
	return budgetEvent({
		name,
		uid: found.uid,
		at,
		by,
		action: suspend ? "Suspend" : "Unsuspend",
		reason: suspend ? "Suspended" : "Unsuspended",
		type: suspend ? "Warning" : "Normal",
		note: `budget ${formatBudgetName(name)} was ${what} by ${by} in ${clusters.join(", ")}, ${effect}${why}`,
	});
}
