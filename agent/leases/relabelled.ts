// Decides whether the pods of a remembered controller have left the budget because their labels were changed. If so, the count no longer
// expects them.
//
// Guarantee: a controller is left out of a count only while the view shows at least as many healthy pods of it as it wants, and at least
// one. In addition, none of its pods, terminating ones included, may be selected or reserved. Any looser rule allows one eviction too many
// in a rollout, or if replacements get their labels late. A workload would then look relabelled while a pod of its own is down. Nothing is
// written, so the controller counts again as soon as that changes.
import { type ControllerReference, type PodRecord } from "../../disruption/budget/pod.ts";
import { isHealthy } from "../../disruption/budget/healthy.ts";
import { controllerKey } from "../../disruption/lease/remembered-controllers.ts";
import type { Owner, Owners } from "./controller-owners.ts";

/** If no ReplicaSet is named after the Deployment, and there are more ReplicaSets than this, none is asked for its owner. */
const maxReplicaSets = 50;

export interface NamespacePods {
	/** All pods of the namespace at the instant of the count. Empty if no controller is remembered. */
	readonly all: readonly PodRecord[];
	/** Uids of the pods that the budget selects. */
	readonly selected: ReadonlySet<string>;
	/** Uids of the pods that are reserved in any Lease of the namespace. For a look, only in the budget's own Lease. */
	readonly reserved: ReadonlySet<string>;
}

export async function isRelabelled(
	{ controller, wants }: Extract<Owner, { kind: "scaled" }>,
	{ all, selected, reserved }: NamespacePods,
	owners: Owners,
): Promise<boolean> {
	if (wants === 0) return false;
	const mayBeIts = all.filter((pod) => pod.controller && mayControl(controller, pod.controller));
	const spokenFor = mayBeIts.filter(({ uid }) => selected.has(uid) || reserved.has(uid));
	for (const pod of spokenFor) if (await isPodOf(controller, pod, owners, "unless proved otherwise")) return false;
	const others = mayBeIts.filter((pod) => isHealthy(pod) && !selected.has(pod.uid) && !reserved.has(pod.uid));
	if (others.length < wants) return false;
	const asked = worthAsking(controller, others);
	const found = await Promise.all(asked.map((pod) => isPodOf(controller, pod, owners, "only where proved")));
	return found.filter(Boolean).length >= wants;
}

/** Whether a pod with the controller `direct` can belong to `controller`, directly or through a ReplicaSet. */
function mayControl(controller: ControllerReference, direct: ControllerReference): boolean {
	if (controllerKey(direct) === controllerKey(controller)) return true;
	return controller.kind === "Deployment" && direct.kind === "ReplicaSet" && direct.apiVersion.startsWith("apps/");
}

async function isPodOf(
	controller: ControllerReference,
	pod: PodRecord,
	owners: Owners,
	doubt: "unless proved otherwise" | "only where proved",
): Promise<boolean> {
	if (!pod.controller) return false;
	const generous = doubt === "unless proved otherwise";
	if (generous && controllerKey(pod.controller) === controllerKey(controller)) return true;
	const owner = await owners.ofPod(pod.controller);
	// A ReplicaSet that is gone may have belonged to any Deployment.
	if (owner.kind === "gone") return generous;
	return controllerKey(owner.controller) === controllerKey(controller);
}

/**
 * Returns the pods whose owners to request: those whose controllers are named after this one. If there are none, it returns all pods, or
 * none if they have too many ReplicaSets. So a count in a large namespace needs only a few requests.
 */
function worthAsking({ name }: ControllerReference, pods: readonly PodRecord[]): readonly PodRecord[] {
	const named = pods.filter(({ controller }) => controller?.name === name || controller?.name.startsWith(`${name}-`));
	if (named.length > 0) return named;
	return new Set(pods.map(({ controller }) => controller?.name)).size <= maxReplicaSets ? pods : [];
}
