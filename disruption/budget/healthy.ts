// Decides which pods are healthy, and how many of a budget's healthy pods count.
//
// Guarantee: a cluster's healthy pods count only up to the number that it expects, if that is known. A member may claim healthy pods that
// do not exist. Such a claim allows disruptions in other members only up to the number of pods that the member expects. Pods that are about
// to be evicted are subtracted first (withPodsDown), so a cluster with a surplus pod, as in a surging rollout, can spare it.
import type { Count } from "./cluster.ts";
import type { PodRecord } from "./pod.ts";

/**
 * Whether the pod is ready, not terminating and not finished. This is the rule of countHealthyPods in pkg/controller/disruption, with
 * finished pods left out. It ignores reservations, which are recorded in the Lease (see isCountedHealthy).
 */
export function isHealthy(pod: PodRecord): boolean {
	return pod.ready && !pod.terminating && !pod.finished;
}

/** Whether the pod counts as healthy. A reserved pod does not, because it may be evicted at any moment. */
export function isCountedHealthy(pod: PodRecord, reserved: { has(uid: string): boolean }): boolean {
	return isHealthy(pod) && !reserved.has(pod.uid);
}

export function countedHealthy(counts: readonly Pick<Count, "healthy" | "expected">[]): number {
	let sum = 0;
	for (const { healthy, expected } of counts) {
		sum += expected.kind === "known" ? Math.min(healthy, expected.pods) : healthy;
	}
	return sum;
}

/** Returns the same counts after `pods` healthy pods of that cluster are gone. */
export function withPodsDown<Counted extends Pick<Count, "clusterId" | "healthy">>(
	counts: readonly Counted[],
	clusterId: string,
	pods = 1,
): readonly Counted[] {
	return counts.map((count) => (count.clusterId === clusterId ? { ...count, healthy: count.healthy - pods } : count));
}
