// How many of a budget's healthy pods count.
//
// Guarantee: a cluster's healthy pods count only up to the number that it expects, if that is known. So a member that claims
// healthy pods that do not exist cannot pay for disruptions in other members beyond the pods that it says it should have.
// Pods that are about to go are subtracted first: a cluster with one pod more than it expects, as in a rollout that surges,
// can spare that pod.
import type { Count } from "./cluster.ts";

/** By cluster id: how many healthy pods are about to go. */
export type PodsTaken = ReadonlyMap<string, number>;

export function countedHealthy(
	counts: readonly Pick<Count, "clusterId" | "healthy" | "expected">[],
	taken: PodsTaken = new Map(),
): number {
	let sum = 0;
	for (const { clusterId, healthy, expected } of counts) {
		const left = healthy - (taken.get(clusterId) ?? 0);
		sum += expected.kind === "known" ? Math.min(left, expected.pods) : left;
	}
	return sum;
}

/** The same, with one more pod of that cluster. */
export function withTaken(taken: PodsTaken, clusterId: string): PodsTaken {
	return new Map([...taken, [clusterId, (taken.get(clusterId) ?? 0) + 1]]);
}
