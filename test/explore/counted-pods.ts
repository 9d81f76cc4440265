// Counts the healthy pods of a budget for the judge. A cluster counts for at most as many pods as it expects. Otherwise an extra pod of a
// rollout in one cluster would make up for a missing pod of another.
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { Slot, Workload } from "./workload.ts";

export interface ClusterSlot {
	readonly slot: Slot;
	readonly cluster: SimulatedCluster;
}

/** `slots`: those whose pods are up, or whose failure the judge excuses. */
export function countedPods(slots: readonly ClusterSlot[]): number {
	const pods = new Map<SimulatedCluster, number>();
	const workloads = new Map<SimulatedCluster, Set<Workload>>();
	for (const { slot, cluster } of slots) {
		pods.set(cluster, (pods.get(cluster) ?? 0) + 1);
		workloads.set(cluster, (workloads.get(cluster) ?? new Set()).add(slot.workload));
	}
	let sum = 0;
	for (const [cluster, up] of pods) sum += Math.min(up, mostOf(workloads.get(cluster) ?? []));
	return sum;
}

/** Pods without a controller and pods of a Job have no limit, because they are expected one by one. */
function mostOf(workloads: Iterable<Workload>): number {
	let most = 0;
	for (const { hasScale, replicas } of workloads) most += hasScale ? replicas : Number.POSITIVE_INFINITY;
	return most;
}
