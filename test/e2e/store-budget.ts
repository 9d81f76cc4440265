// Stores a budget that the definition refuses today, like one that is older than the definition's rules.
import { type StoredBudget, storeBudget } from "../controlplane/etcd-gateway.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";

/** Stores the same budget in each of these contexts. */
export async function storeBudgetIn(contexts: readonly string[], budget: StoredBudget): Promise<void> {
	const clusters = sharedFleet().clusters.filter(({ name }) => contexts.includes(name));
	await Promise.all(clusters.map((cluster) => storeBudget(cluster, budget)));
}
