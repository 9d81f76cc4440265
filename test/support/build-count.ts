// Builds counts of a fleet of two members, "eu" and "us", each with three healthy pods of budget shop/db.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { CandidateState, Count, MemberBudget, PodReference } from "../../disruption/budget/cluster.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";
import { parseLabelSelector } from "../../disruption/budget/selector.ts";

export const budget: BudgetName = { namespace: "shop", name: "db" };

export const labels = { app: "db" };

export const selector = parseLabelSelector({ matchLabels: labels }, "spec.selector");

export function newSpec(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
	return { selector: { matchLabels: labels }, ...fields };
}

export function memberBudget(spec: unknown, name: BudgetName = budget): MemberBudget {
	return { name, spec };
}

export function podReference(name: string): PodReference {
	return { namespace: budget.namespace, name, uid: `uid-${name}` };
}

export type Present = Extract<CandidateState, { kind: "present" }>;

export function presentPod(name: string, more: Partial<Omit<Present, "kind" | "pod">> = {}): Present {
	return {
		kind: "present",
		pod: podReference(name),
		healthy: true,
		resourceVersion: "100",
		labels,
		preActivities: [],
		...more,
	};
}

/** Returns a count with three healthy pods of three, under `maxUnavailable: 1`. */
export function newCount(
	clusterId: string,
	more: Partial<Count> = {},
	memberIds: readonly string[] = ["eu", "us"],
): Count {
	return {
		clusterId,
		clusterName: `${clusterId}-1`,
		fleetHash: fleetHash(memberIds),
		features: [],
		budgets: [memberBudget(newSpec({ maxUnavailable: 1 }))],
		expected: { kind: "known", pods: 3 },
		healthy: 3,
		candidates: [],
		unavailable: [],
		...more,
	};
}
