// Judges one pod of a plan: which budgets cover it and whether its replacement finds a node, or why it can never be evicted.
import type { V1Pod } from "@kubernetes/client-node";
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { CandidateState } from "../../disruption/budget/cluster.ts";
import { hasNotStarted, isReplaced, readyCondition } from "../kubernetes/pod-status.ts";
import type { PlanPod } from "./drain-plan.ts";
import { podReference } from "./fleet-budgets.ts";
import { type NativeBudget, nativeCoverage } from "./native-budgets.ts";
import { findPlacement, type Placement } from "./placement.ts";
import type { PlanNeverReason } from "./plan.ts";
import type { ClusterFacts, PlanFacts } from "./read-facts.ts";

export type PodJudgement =
	| {
			readonly kind: "planned";
			readonly pod: PlanPod;
			readonly native: NativeBudget | undefined;
			readonly placement: Placement;
	  }
	| { readonly kind: "never"; readonly reason: PlanNeverReason; readonly message: string };

/** `drained`: names of the nodes that the drain cordons in the pod's cluster. */
export function judgePod(
	pod: V1Pod,
	cluster: ClusterFacts,
	{ fleet, drained }: { readonly fleet: PlanFacts["fleet"]; readonly drained: ReadonlySet<string> },
): PodJudgement {
	const replaced = isReplaced(pod);
	const placement: Placement = replaced
		? findPlacement(pod, cluster.nodes, { drained, volumes: cluster.volumes.of(pod) })
		: { kind: "somewhere" };
	const candidate = { clusterId: cluster.clusterId, pod: podReference(pod) };
	const states = new Map<string, CandidateState>();
	const planned = { candidate, states, replaced, ...strandsOf(placement) };
	// A run also evicts a pod that has not started, whatever its budgets say (evictFree).
	if (hasNotStarted(pod)) return { kind: "planned", pod: planned, native: undefined, placement };
	const coverage = cluster.isMember && fleet ? fleet.coverageOf(pod) : ({ kind: "none" } as const);
	if (coverage.kind === "never") return { kind: "never", ...coverage.never };
	if (coverage.kind === "covered") {
		for (const { name } of coverage.budgets) {
			const key = formatBudgetName(name);
			const budget = fleet?.budgets.get(key);
			if (budget && "never" in budget) return { kind: "never", ...budget.never };
			states.set(key, fleet?.stateOf(key, pod) ?? { kind: "unseen", pod: podReference(pod) });
		}
	}
	const native = nativeCoverage(pod, cluster.native.budgets);
	if (native.kind === "never") return { kind: "never", ...native.never };
	if (native.kind === "covered") states.set(native.budget.budget.key, nativeState(pod));
	return {
		kind: "planned",
		pod: planned,
		native: native.kind === "covered" ? native.budget : undefined,
		placement,
	};
}

export function strandsOf({ kind }: Placement): Pick<PlanPod, "strands"> {
	if (kind === "nowhere") return { strands: "for ever" };
	return kind === "later" ? { strands: "for now" } : {};
}

export function nativeState(pod: V1Pod): CandidateState {
	return {
		kind: "present",
		pod: podReference(pod),
		healthy: readyCondition(pod) !== undefined,
		resourceVersion: pod.metadata?.resourceVersion ?? "",
		labels: pod.metadata?.labels ?? {},
		preActivities: [],
	};
}
