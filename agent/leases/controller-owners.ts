// Who decides how many pods there should be for a pod's own controller: a ReplicaSet's Deployment, anybody else for
// themselves. Each is asked for once in a count; whose a ReplicaSet is may be known from a moment ago (replica-set-owners.ts).
import type { ControllerReference } from "../../disruption/budget/pod.ts";
import { controllerKey } from "../../disruption/lease/remembered-controllers.ts";
import type { ClusterApi, ScaleAnswer } from "../cluster-api/cluster-api.ts";
import { deploymentOf, type ReplicaSetOwners } from "./replica-set-owners.ts";

export type Owner =
	| { readonly kind: "scaled"; readonly controller: ControllerReference; readonly wants: number }
	/** It was changed, and its own controller has not looked at it since. */
	| { readonly kind: "unsettled"; readonly controller: ControllerReference }
	/** Its API gives no number: that may change at any time. */
	| {
			readonly kind: "unstated";
			readonly controller: ControllerReference;
			readonly why: string;
			readonly passes: boolean;
	  }
	| { readonly kind: "withoutScale"; readonly controller: ControllerReference }
	/** 404, another uid under the name, or a kind that is not served any more; `controller` is who is missing. */
	| { readonly kind: "gone"; readonly controller: ControllerReference };

export interface Owners {
	/** Of a pod, by its own reference: this very uid. */
	readonly ofPod: (controller: ControllerReference) => Promise<Owner>;
	/** The same, where whose a ReplicaSet is may be known from a moment ago. */
	readonly ofPodLately: (controller: ControllerReference) => Promise<Owner>;
	/** Of a remembered controller: whoever has the name now. */
	readonly ofName: (controller: ControllerReference) => Promise<Owner>;
}

/** Rejects where an API server does not answer: an unknown scale is no scale of 0. */
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
		// Where it is gone the ReplicaSet has to say whose it is now.
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
