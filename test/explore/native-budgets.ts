// PodDisruptionBudgets of a cluster itself, as the API server's handler of evictions applies them.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { matches } from "./oracle-config.ts";
import type { NativeBudgetData } from "./scenario.ts";
import type { Preconditions } from "./simulated-api-server.ts";

export type NativeVerdict =
	| { readonly kind: "evict"; readonly preconditions: Preconditions }
	| { readonly kind: "refuse"; readonly code: 429 | 500 };

/** `pods`: all of the namespace. */
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
	// Of a pod that is not ready the handler names the version that it has read itself (docs/design.md, Assumptions).
	if (!pod.ready && healthy >= budget.minAvailable)
		return { kind: "evict", preconditions: { ...preconditions, resourceVersion: pod.resourceVersion } };
	return healthy > budget.minAvailable ? { kind: "evict", preconditions } : { kind: "refuse", code: 429 };
}
