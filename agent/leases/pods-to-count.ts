// Chooses where a count takes its pods from: the view, or a list of only those pods that the budget selects.
//
// Guarantee: the pods include all evidence on which an agent ended a reservation of the given Leases, because either
// - the view's watch is alive and has reached the highest `observed` of these Leases, and both still hold when the pods are read; or
// - the pods come from a consistent list that began after these Leases were read.
// A Lease without `observed` is new: what ended before it was made is not known. For its first count, the view must have reached a version
// that the agent's own touch of its own pod got after these Leases were read (view-marker.ts). Without one, a list is needed.
//
// A list of selected pods is not put into the view, which would then claim to show all pods of the cluster at that version. A pod that is
// not in the list may have other labels, so the list is no evidence that the pod is gone. All pods of the cluster are never listed here:
// after a restart of the API server such a list would compete with the one that revives the view.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { PodReference } from "../../disruption/budget/cluster.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { LabelSelector } from "../../disruption/budget/selector.ts";
import type { BudgetLease } from "../../disruption/lease/lease.ts";
import { latestResourceVersion } from "../../disruption/resource-version.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { PodView } from "../views/pod-view.ts";
import type { ViewMarker } from "../views/view-marker.ts";

/** How long a count waits for a live view. An event arrives within milliseconds, and a list of many pods takes about as long as this. */
const viewWaitMs = 500;

export interface PodsToCount {
	readonly from: "view" | "list";
	/** The version of the list, or the version that the view had to reach. */
	readonly version: string;
	/** Whether the pods may still be read. A view may have lost its watch since. Read them before you await anything. */
	readonly isUsable: () => boolean;
	/** Returns the pods that the budget selects, finished ones too. */
	readonly selected: () => Iterable<PodRecord>;
	readonly find: (pod: PodReference) => PodRecord | undefined;
	/** Returns all pods of the namespace. A list of selected pods does not know the others. */
	readonly all?: () => Iterable<PodRecord>;
}

interface Choice {
	readonly api: Pick<ClusterApi, "listSelectedPods">;
	readonly pods: PodView;
	/** If left out, new Leases are counted from lists. */
	readonly marker?: Pick<ViewMarker, "mark"> | undefined;
}

interface Question {
	readonly budget: BudgetName;
	readonly selector: LabelSelector;
}

/** `leases` are the budget's own Lease, which comes first, and the others of its namespace. */
export async function podsToCount(
	question: Question,
	leases: readonly [BudgetLease, ...BudgetLease[]],
	choice: Choice,
): Promise<PodsToCount> {
	const observed = observedBy(leases);
	const isNew = leases[0].state.observed === "";
	const marked = isNew ? await choice.marker?.mark() : observed;
	if (marked === undefined) return listPods(question, choice);
	const version = latestResourceVersion(observed, marked);
	const arrives = await choice.pods.arrives(version, viewWaitMs);
	return arrives ? ofView(question, version, choice) : listPods(question, choice);
}

/** For a look, which no decision depends on. */
export async function podsToLookAt(question: Question, choice: Choice): Promise<PodsToCount> {
	return choice.pods.live ? ofView(question, "", choice) : listPods(question, choice);
}

/** Returns the version that a view must have reached to show all evidence of these Leases. */
export function observedBy(leases: readonly BudgetLease[]): string {
	return latestResourceVersion(...leases.map(({ state }) => state.observed));
}

function ofView({ budget, selector }: Question, version: string, { pods }: Choice): PodsToCount {
	const { namespace } = budget;
	return {
		from: "view",
		version,
		isUsable: () => pods.shows(version),
		selected: () => pods.selected(namespace, selector),
		find: (pod) => pods.find(pod),
		all: () => pods.pods(namespace),
	};
}

/** Lists the pods that the budget selects. */
export async function listPods({ budget, selector }: Question, { api }: Pick<Choice, "api">): Promise<PodsToCount> {
	const { pods, resourceVersion } = await api.listSelectedPods(budget.namespace, selector);
	const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
	return {
		from: "list",
		version: resourceVersion,
		isUsable: () => true,
		selected: () => pods,
		find: ({ uid }) => byUid.get(uid),
	};
}
