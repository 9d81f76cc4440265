// A budget that the definition refuses today, as one that was there before its rules.
import { type StoredBudget, storeBudget } from "../controlplane/etcd-gateway.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";

/** The same in each of these contexts. */
export async function storeBudgetIn(contexts: readonly string[], budget: StoredBudget): Promise<void> {
	const clusters = sharedFleet().clusters.filter(({ name }) => contexts.includes(name));
	await Promise.all(clusters.map((cluster) => storeBudget(cluster, budget)));
}
