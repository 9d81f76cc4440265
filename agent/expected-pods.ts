// Expected pods, from the scale of the pods' controllers: the rules of getExpectedScale and its finders in
// pkg/controller/disruption, except that a pod which belongs to nobody is one expected pod instead of an event.
import type { ExpectedPods } from "../disruption/cluster.ts";
import type { ControllerReference, PodRecord } from "../disruption/pod.ts";
import type { ClusterApi, ScaleAnswer } from "./cluster-api.ts";

export interface ExpectedScale {
	readonly expected: ExpectedPods;
	/** The controller that decides for a pod's own one: the Deployment of its ReplicaSet. By uid of the pod's own. */
	readonly decisive: ReadonlyMap<string, ControllerReference>;
	/** Uids of remembered controllers that are gone for good. */
	readonly forgotten: ReadonlySet<string>;
}

/**
 * Adds up the scales of all controllers of these pods and of the remembered ones. `pods` are all that the budget
 * selects, finished ones too. Rejects where an API server does not answer: an unknown scale is no scale of 0.
 */
export async function expectedPods(
	api: Pick<ClusterApi, "getScale">,
	namespace: string,
	pods: readonly PodRecord[],
	remembered: readonly ControllerReference[],
): Promise<ExpectedScale> {
	const controllers = new Map<string, ControllerReference>();
	for (const controller of remembered) controllers.set(controller.uid, controller);
	for (const { controller } of pods) if (controller) controllers.set(controller.uid, controller);
	const scales = new Map<string, ScaleAnswer>();
	const decisive = new Map<string, ControllerReference>();
	await Promise.all(
		[...controllers.values()].map(async (controller) => {
			const answer = await api.getScale(controller, namespace);
			const owner = answer.kind === "replicas" ? answer.ownedBy : undefined;
			// A ReplicaSet of anything but a Deployment decides for itself, as in getPodReplicaSet.
			if (!owner || owner.kind !== "Deployment" || !owner.apiVersion.startsWith("apps/")) {
				scales.set(controller.uid, answer);
				decisive.set(controller.uid, controller);
				return;
			}
			decisive.set(controller.uid, owner);
			if (!scales.has(owner.uid)) scales.set(owner.uid, await api.getScale(owner, namespace));
		}),
	);
	let total = 0;
	for (const scale of scales.values()) if (scale.kind === "replicas") total += scale.replicas;
	let reason: string | undefined;
	// Messages keep the number in 32 bits.
	if (total >= 2 ** 31) reason = `the controllers of namespace ${namespace} want ${total} pods, which nobody can count`;
	for (const pod of pods) {
		if (pod.finished) continue;
		const controller = pod.controller && decisive.get(pod.controller.uid);
		const scale = controller && scales.get(controller.uid);
		if (!controller || !scale || scale.kind === "gone" || controller.kind === "DaemonSet") total += 1;
		else if (scale.kind === "withoutScale") {
			reason ??= `pod ${namespace}/${pod.name} is controlled by ${controller.kind} "${controller.name}", which has no scale`;
		}
	}
	const forgotten = remembered.filter(({ uid }) => scales.get(decisive.get(uid)?.uid ?? uid)?.kind === "gone");
	return {
		expected: reason === undefined ? { kind: "known", pods: total } : { kind: "unknown", reason },
		decisive,
		forgotten: new Set(forgotten.map(({ uid }) => uid)),
	};
}
