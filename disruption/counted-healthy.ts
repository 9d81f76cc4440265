// How many of a budget's healthy pods count.
//
// Guarantee: a cluster counts for no more healthy pods than it expects, where that is known. So a member that claims healthy pods which
// are none cannot pay for disruptions in other members beyond the pods that it says it should have. What is about to go is taken off before
// that: with one pod more than it expects, as in a rollout that surges, a cluster can spare that one.
import type { Count } from "./cluster.ts";

/** By cluster id: healthy pods that are as good as gone. */
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

/** The same, and one pod more of that cluster. */
export function withTaken(taken: PodsTaken, clusterId: string): PodsTaken {
	return new Map([...taken, [clusterId, (taken.get(clusterId) ?? 0) + 1]]);
}
