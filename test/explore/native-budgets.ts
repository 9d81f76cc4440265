// Applies the PodDisruptionBudgets of a cluster as the API server's eviction handler does.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { matches } from "./oracle-config.ts";
import type { NativeBudgetData } from "./scenario.ts";
import type { Preconditions } from "./simulated-api-server.ts";

export type NativeVerdict =
	| { readonly kind: "evict"; readonly preconditions: Preconditions }
	| { readonly kind: "refuse"; readonly code: 429 | 500 };

/** `pods` are all pods of the namespace. */
export function judgeNatively(
	budgets: readonly NativeBudgetData[],
	pod: PodRecord,
	{ pods, preconditions }: { readonly pods: readonly PodRecord[]; readonly preconditions: Preconditions },
): NativeVerdict {
	const isIgnored = pod.finished || pod.terminating;
	const [budget, second] = isIgnored ? [] : budgets.filter(({ selector }) => matches(selector, pod.labels));
	if (second) return { kind: "refuse", code: 500 };
	if (!budget) return { kind: "evict", preconditions };
	const healthy = pods.filter(
		({ labels, ready, terminating, finished }) =>
			ready && !terminating && !finished && matches(budget.selector, labels),
	).length;
	// For a pod that is not ready, the handler inserts the version that it read itself (docs/design.md, Assumptions).
	if (!pod.ready && healthy >= budget.minAvailable)
		return { kind: "evict", preconditions: { ...preconditions, resourceVersion: pod.resourceVersion } };
	return healthy > budget.minAvailable ? { kind: "evict", preconditions } : { kind: "refuse", code: 429 };
}
