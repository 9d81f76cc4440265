import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { Acquisition } from "../../disruption/budget/cluster.ts";
import { LeaseLostError } from "../../disruption/errors.ts";
import type { BudgetLease } from "../../disruption/lease/lease.ts";

/**
 * Returns the error for a caller whose acquisition no longer stands. `lease` is the Lease as it was found, and `cluster` the cluster's
 * name.
 */
export function lostLease({ budget }: Acquisition, lease: BudgetLease | undefined, cluster: string): LeaseLostError {
	const held = lease?.holder === "" ? "it was given back" : `held by "${lease?.holder}"`;
	const state = lease ? held : "it does not exist any more";
	return new LeaseLostError(`Lease of budget "${formatBudgetName(budget)}" in cluster "${cluster}" was lost: ${state}`);
}
