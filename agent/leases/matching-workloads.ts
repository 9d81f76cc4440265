// Finds the workloads whose pod template a budget selects. They are expected even while none of their pods exists.
//
// Guarantee: every such workload that already existed 5 s before the count is found, unless it is gone. Workloads come from a consistent
// list of the namespace that began after the count did, or from watches that are alive and equaled such lists in the last 5 s. A workload
// that cannot be listed is never treated as missing. If a budget selects too many workloads, they are not used, and the number of expected
// pods is unknown.
// Assumption: a template keeps its labels for as long as its pods have them, or a pod that differs was seen by a count or granted
// (remembered-controllers.ts).
import type { LabelSelector } from "../../disruption/budget/budget.ts";
import type { ExpectedPods } from "../../disruption/budget/cluster.ts";
import type { ControllerReference } from "../../disruption/budget/pod.ts";
import { matchesSelector } from "../../disruption/budget/selector.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { WorkloadRecord } from "../cluster-api/workload-record.ts";
import { MissingRightError } from "../kubernetes/api-refusal.ts";
import type { WorkloadView } from "../views/workload-view.ts";

export type MatchingWorkloads =
	| { readonly kind: "listed"; readonly workloads: readonly ControllerReference[] }
	| { readonly kind: "unlisted"; readonly expected: Extract<ExpectedPods, { kind: "unknown" }> };

/**
 * If a budget selects more workloads, none is asked for its scale. Each costs a request at every count, even without pods, and a tenant can
 * create 20,000 of them without a single pod. Their requests would need more memory than the agent has, and would block all others on the
 * same connection.
 */
export const mostWorkloads = 3_000;

interface MatchingOptions {
	readonly api: Pick<ClusterApi, "listWorkloads">;
	/** If left out, each count lists them. */
	readonly workloads?: WorkloadView | undefined;
}

/** Takes the workloads from the watches if these are proven, and otherwise from a list. Rejects if the API server does not answer. */
export async function matchingWorkloads(
	namespace: string,
	selector: LabelSelector,
	{ api, workloads }: MatchingOptions,
): Promise<MatchingWorkloads> {
	workloads?.wanted(namespace);
	try {
		const found = workloads?.isProven(namespace) ? workloads.workloads(namespace) : await api.listWorkloads(namespace);
		const selected = selectedWorkloads(found, selector);
		return selected.length > mostWorkloads ? tooMany(namespace) : { kind: "listed", workloads: selected };
	} catch (error) {
		if (!(error instanceof MissingRightError)) throw error;
		const reason = `its agent may not list the workloads whose pods it should expect: ${error.message}`;
		return { kind: "unlisted", expected: { kind: "unknown", reason, cause: "WorkloadsNotListed" } };
	}
}

/**
 * Returns the selected workloads that the watches show now, proven or not, so that a count can request their scales early. Empty if there
 * are too many.
 */
export function shownWorkloads(
	namespace: string,
	selector: LabelSelector,
	{ workloads }: Pick<MatchingOptions, "workloads">,
): readonly ControllerReference[] {
	const selected = workloads ? selectedWorkloads(workloads.workloads(namespace), selector) : [];
	return selected.length > mostWorkloads ? [] : selected;
}

function tooMany(namespace: string): MatchingWorkloads {
	const reason =
		`this budget selects the pods of more than ${mostWorkloads} workloads in namespace ${namespace}, too many to ask at every count ` +
		"how many pods they want: split them between several budgets, each with its own selector";
	return { kind: "unlisted", expected: { kind: "unknown", reason } };
}

function selectedWorkloads(found: Iterable<WorkloadRecord>, selector: LabelSelector): readonly ControllerReference[] {
	const selected: ControllerReference[] = [];
	for (const { apiVersion, kind, name, uid, labels, isOfDeployment } of found) {
		if (!isOfDeployment && matchesSelector(selector, labels)) selected.push({ apiVersion, kind, name, uid });
	}
	return selected;
}
