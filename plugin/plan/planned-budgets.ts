// Makes the rows of a plan's budgets, with the numbers of `kubectl xpdb budgets`.
import { countedRow } from "../fleet/budget-table.ts";
import type { PlanBudget } from "./drain-plan.ts";
import type { UncountedBudget } from "./fleet-budgets.ts";
import { type NativeBudget, nativeBudgetText } from "./native-budgets.ts";
import type { PlanEntry, PlannedBudget } from "./plan.ts";

export function fleetBudgetRow(
	key: string,
	budget: PlanBudget | UncountedBudget,
	pods: readonly PlanEntry[],
): PlannedBudget {
	const [namespace = "", name = ""] = key.split("/");
	const covered = pods.filter(({ budgets }) => budgets.includes(key)).length;
	const base = { kind: "XPodDisruptionBudget", namespace, name, pods: covered } as const;
	if ("never" in budget) {
		return { ...base, need: null, healthy: null, expected: null, allowed: null, bound: "", suspended: false };
	}
	return { ...base, ...numbersOf(budget) };
}

export function nativeBudgetRow(native: NativeBudget, pods: readonly PlanEntry[]): PlannedBudget {
	const { budget, name, context } = native;
	const text = nativeBudgetText(native);
	return {
		kind: "PodDisruptionBudget",
		context,
		namespace: name.namespace,
		name: name.name,
		...numbersOf(budget),
		pods: pods.filter((pod) => pod.context === context && pod.budgets.includes(text)).length,
	};
}

function numbersOf({ memberIds, bound, counted }: PlanBudget) {
	const { suspended, need, healthy, expected, allowed } = countedRow(memberIds, counted);
	return {
		bound,
		suspended,
		need: need ?? null,
		healthy: healthy ?? null,
		expected: expected ?? null,
		allowed: allowed ?? null,
	};
}
