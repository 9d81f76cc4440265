// Finds the controller whose scale counts for a pod: the Deployment of its ReplicaSet, otherwise the pod's own controller.
import type { ControllerReference } from "../../disruption/budget/pod.ts";
import { controllerKey } from "../../disruption/lease/remembered-controllers.ts";
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { ScaleAnswer } from "../cluster-api/scale-answer.ts";
import { deploymentOf, type ReplicaSetOwners } from "./replica-set-owners.ts";

export type Owner =
	| { readonly kind: "scaled"; readonly controller: ControllerReference; readonly wants: number }
	/** A DaemonSet that was changed, and whose controller has not observed the change yet. */
	| { readonly kind: "unsettled"; readonly controller: ControllerReference }
	/** A custom resource whose API gives no number now, but may at any time. */
	| {
			readonly kind: "unstated";
			readonly controller: ControllerReference;
			readonly why: string;
			readonly passes: boolean;
	  }
	| { readonly kind: "withoutScale"; readonly controller: ControllerReference }
	/**
	 * The API server answers 404, the object of that name has another uid, or the kind is no longer served. `controller` is the missing one.
	 */
	| { readonly kind: "gone"; readonly controller: ControllerReference };

export interface Owners {
	/** Finds the owner of a pod by the pod's own reference. An object with the same name but another uid does not count. */
	readonly ofPod: (controller: ControllerReference) => Promise<Owner>;
	/** As ofPod(), but the owner of a ReplicaSet may come from an earlier read. */
	readonly ofPodLately: (controller: ControllerReference) => Promise<Owner>;
	/** Finds the owner of a remembered controller or a matching workload: the object that has this name now. */
	readonly ofName: (controller: ControllerReference) => Promise<Owner>;
}

/** The returned functions reject if the API server does not answer: an unknown scale is not a scale of 0. Each scale is requested once. */
export function createOwners(
	api: Pick<ClusterApi, "getScale">,
	namespace: string,
	replicaSets?: Pick<ReplicaSetOwners, "find">,
): Owners {
	const answers = new Map<string, Promise<ScaleAnswer>>();

	function ask(controller: ControllerReference): Promise<ScaleAnswer> {
		const key = controllerKey(controller);
		const answer = answers.get(key) ?? api.getScale(controller, namespace);
		answers.set(key, answer);
		return answer;
	}

	async function find(controller: ControllerReference, isThatOne: (uid: string, named: string) => boolean) {
		const answer = await ask(controller);
		const above = deploymentOf(answer);
		const direct = ownerOf(controller, answer, isThatOne);
		return above && direct.kind === "scaled" ? ownerOf(above, await ask(above), isThatOne) : direct;
	}

	async function findLately(controller: ControllerReference): Promise<Owner> {
		const deployment = replicaSets?.find(controller, namespace);
		const known = deployment && ownerOf(deployment, await ask(deployment), isSame);
		// Unless a known Deployment has a scale, ask the ReplicaSet for its current owner.
		return known?.kind === "scaled" ? known : find(controller, isSame);
	}

	return {
		ofPod: (controller) => find(controller, isSame),
		ofPodLately: findLately,
		ofName: (controller) => find(controller, () => true),
	};
}

function isSame(uid: string, named: string): boolean {
	return uid === named;
}

function ownerOf(
	controller: ControllerReference,
	answer: ScaleAnswer,
	isThatOne: (uid: string, named: string) => boolean,
): Owner {
	if (answer.kind === "gone" || answer.kind === "withoutScale") return { kind: answer.kind, controller };
	if (answer.kind === "unstated") return { ...answer, controller };
	if (!isThatOne(answer.uid, controller.uid)) return { kind: "gone", controller };
	const found = { ...controller, uid: answer.uid };
	if (answer.kind === "unsettled") return { kind: "unsettled", controller: found };
	return { kind: "scaled", controller: found, wants: answer.replicas };
}
