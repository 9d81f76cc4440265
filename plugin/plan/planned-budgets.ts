// The budgets of a plan with their numbers, as `kubectl xpdb budgets` has them.
import { countedRow } from "../fleet/budget-table.ts";
import type { PlanBudget } from "./drain-plan.ts";
import { type NativeBudget, nativeBudgetText } from "./native-budgets.ts";
import type { PlanEntry, PlannedBudget } from "./plan.ts";

export function fleetBudgetRow(
	key: string,
	budget: PlanBudget | { readonly garbled: string },
	pods: readonly PlanEntry[],
): PlannedBudget {
	const [namespace = "", name = ""] = key.split("/");
	const covered = pods.filter(({ budgets }) => budgets.includes(key)).length;
	const base = { kind: "XPodDisruptionBudget", namespace, name, pods: covered } as const;
	const unknown = { need: null, healthy: null, expected: null, allowed: null };
	if ("garbled" in budget) return { ...base, ...unknown, bound: "", suspended: false };
	const row = countedRow(budget.memberIds, budget.counted);
	return {
		...base,
		bound: budget.bound,
		suspended: row.suspended,
		need: row.need ?? null,
		healthy: row.healthy ?? null,
		expected: row.expected ?? null,
		allowed: row.allowed ?? null,
	};
}

export function nativeBudgetRow(native: NativeBudget, pods: readonly PlanEntry[]): PlannedBudget {
	const { budget, name, status } = native;
	const text = nativeBudgetText(native);
	const context = budget.counted.counts[0]?.clusterName ?? "";
	const { need, healthy, expected } = status;
	return {
		kind: "PodDisruptionBudget",
		context,
		namespace: name.namespace,
		name: name.name,
		bound: budget.bound,
		suspended: false,
		need,
		healthy,
		expected,
		allowed: expected === 0 ? 0 : Math.max(0, healthy - need),
		pods: pods.filter((pod) => pod.context === context && pod.budgets.includes(text)).length,
	};
}
