// Which pods are healthy, and how many of a budget's healthy pods count.
//
// Guarantee: a cluster's healthy pods count only up to the number that it expects, if that is known. So a member that claims
// healthy pods that do not exist cannot pay for disruptions in other members beyond the pods that it says it should have.
// Pods that are about to go are subtracted first (withPodsDown): a cluster with one pod more than it expects, as in a rollout that
// surges, can spare that pod.
import type { Count } from "./cluster.ts";
import type { PodRecord } from "./pod.ts";

/**
 * Ready, not terminating, not finished; whether it is reserved is the Lease's to say. The rule of countHealthyPods in
 * pkg/controller/disruption, with finished pods left out.
 */
export function isHealthy(pod: PodRecord): boolean {
	return pod.ready && !pod.terminating && !pod.finished;
}

/** What is reserved may be evicted at any moment. */
export function isCountedHealthy(pod: PodRecord, reserved: { has(uid: string): boolean }): boolean {
	return isHealthy(pod) && !reserved.has(pod.uid);
}

/** Over all clusters. */
export function countedHealthy(counts: readonly Pick<Count, "healthy" | "expected">[]): number {
	let sum = 0;
	for (const { healthy, expected } of counts) {
		sum += expected.kind === "known" ? Math.min(healthy, expected.pods) : healthy;
	}
	return sum;
}

/** The same counts where so many healthy pods of that cluster are about to go. */
export function withPodsDown<Counted extends Pick<Count, "clusterId" | "healthy">>(
	counts: readonly Counted[],
	clusterId: string,
	pods = 1,
): readonly Counted[] {
	return counts.map((count) => (count.clusterId === clusterId ? { ...count, healthy: count.healthy - pods } : count));
}
