// How many pods keep a budget, for the judge: a cluster counts for no more of them than it expects, or a rollout that makes one pod
// too many in one cluster would pay for a pod of another one.
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { Slot, Workload } from "./workload.ts";

export interface ClusterSlot {
	readonly slot: Slot;
	readonly cluster: SimulatedCluster;
}

/** Of these slots, whose pods are all up. */
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

/** Pods that no controller speaks for, and those of a Job, are expected one by one. */
function mostOf(workloads: Iterable<Workload>): number {
	let most = 0;
	for (const { hasScale, replicas } of workloads) most += hasScale ? replicas : Number.POSITIVE_INFINITY;
	return most;
}
