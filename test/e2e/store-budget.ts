// Stores budgets without the CRD's validation.
import { type StoredBudget, storeBudget } from "../controlplane/etcd-gateway.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";

export async function storeBudgetIn(contexts: readonly string[], budget: StoredBudget): Promise<void> {
	const clusters = sharedFleet().clusters.filter(({ name }) => contexts.includes(name));
	await Promise.all(clusters.map((cluster) => storeBudget(cluster, budget)));
}
