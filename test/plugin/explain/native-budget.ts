import type { V1PodDisruptionBudget, V1PodDisruptionBudgetStatus } from "@kubernetes/client-node";

/** Returns a PodDisruptionBudget over the pods of database shop/db, of generation 2. */
export function newNativeBudget(status: Partial<V1PodDisruptionBudgetStatus>): V1PodDisruptionBudget {
	const counts = {
		currentHealthy: 0,
		desiredHealthy: 0,
		expectedPods: 0,
		disruptionsAllowed: 0,
		observedGeneration: 2,
	};
	return {
		metadata: { name: "db", namespace: "shop", generation: 2 },
		spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 },
		status: { ...counts, ...status },
	};
}
