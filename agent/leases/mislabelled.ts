// Workloads that a budget expects by their pod template, and whose pods carry other labels: somebody relabels the pods, or a webhook does
// when they are made. No pod of theirs is healthy for the budget, so that they use it up until a person changes something. For
// people: nothing is decided by it.
import { type MislabelledWorkload, mostUnavailableTold } from "../../disruption/cluster.ts";
import type { ControllerReference, PodRecord } from "../../disruption/pod.ts";
import { controllerKey } from "../../disruption/remembered-controllers.ts";
import type { Owner } from "./controller-owners.ts";

interface MislabelledQuestion {
	readonly namespace: string;
	/** Of the workloads whose template the budget selects. */
	readonly matched: readonly Owner[];
	/** All that the budget selects, and who decides for them by uid of their controllers. */
	readonly selected: readonly PodRecord[];
	readonly owners: ReadonlyMap<string, Owner>;
	/** All pods of the namespace; asked for only where a workload has fewer selected pods than it wants. */
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

/** Its own, or of a ReplicaSet that has a name as its Deployment makes them: nobody is asked for what is only said. */
function isProbablyOf(controller: ControllerReference, direct: ControllerReference): boolean {
	if (controllerKey(direct) === controllerKey(controller)) return direct.uid === controller.uid;
	return (
		controller.kind === "Deployment" && direct.kind === "ReplicaSet" && direct.name.startsWith(`${controller.name}-`)
	);
}
