// Finds workloads whose pod template a budget selects, but some of whose pods have other labels, which a user or a webhook set. The budget
// does not count those pods as healthy, so they use it up until a user corrects the labels. Used only in messages: no decision depends on
// it.
import { type MislabelledWorkload, mostUnavailableTold } from "../../disruption/budget/cluster.ts";
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import { controllerKey } from "../../disruption/lease/remembered-controllers.ts";
import type { Owner } from "./controller-owners.ts";

interface MislabelledQuestion {
	readonly namespace: string;
	/** The owners of workloads whose template the budget selects. */
	readonly matched: readonly Owner[];
	/** All pods that the budget selects, and the owners whose scale counts for them, by the uids of the pods' controllers. */
	readonly selected: readonly PodRecord[];
	readonly owners: ReadonlyMap<string, Owner>;
	/** All pods of the namespace. Called only if a workload has fewer selected pods than it wants. */
	readonly pods: () => Iterable<PodRecord>;
}

export function mislabelledWorkloads({
	namespace,
	matched,
	selected,
	owners,
	pods,
}: MislabelledQuestion): readonly MislabelledWorkload[] {
	const counts = new Map<string, number>();
	for (const { controller, finished } of selected) {
		const owner = controller && !finished && owners.get(controller.uid);
		if (!owner) continue;
		const key = controllerKey(owner.controller);
		counts.set(key, (counts.get(key) ?? 0) + 1);
	}
	const missing = matched.flatMap((owner) => {
		if (owner.kind !== "scaled") return [];
		const { controller, wants } = owner;
		return (counts.get(controllerKey(controller)) ?? 0) < wants ? [{ controller, wants }] : [];
	});
	if (missing.length === 0) return [];
	const uids = new Set(selected.map(({ uid }) => uid));
	const unselected = [...pods()].filter(
		({ uid, finished, terminating }) => !finished && !terminating && !uids.has(uid),
	);
	return missing
		.flatMap(({ controller, wants }): MislabelledWorkload[] => {
			const others = unselected.filter((pod) => pod.controller && isProbablyOf(controller, pod.controller)).length;
			return others > 0 ? [{ kind: controller.kind, namespace, name: controller.name, wants, others }] : [];
		})
		.slice(0, mostUnavailableTold);
}

/**
 * Whether a pod with the controller `direct` probably belongs to `controller`: directly, or through a ReplicaSet that is named like one of
 * this Deployment. A guess is enough for a message, and costs no request.
 */
function isProbablyOf(controller: ControllerReference, direct: ControllerReference): boolean {
	if (controllerKey(direct) === controllerKey(controller)) return direct.uid === controller.uid;
	return (
		controller.kind === "Deployment" && direct.kind === "ReplicaSet" && direct.name.startsWith(`${controller.name}-`)
	);
}
