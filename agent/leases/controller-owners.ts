// Who decides how many pods there should be for a pod's own controller: a ReplicaSet's Deployment, anybody else for
// themselves. Each is asked for once in a count.
import type { ControllerReference } from "../../disruption/pod.ts";
import { controllerKey } from "../../disruption/remembered-controllers.ts";
import type { ClusterApi, ScaleAnswer } from "../cluster-api/cluster-api.ts";

export type Owner =
	| { readonly kind: "scaled"; readonly controller: ControllerReference; readonly wants: number }
	/** It was changed, and its own controller has not looked at it since. */
	| { readonly kind: "unsettled"; readonly controller: ControllerReference }
	| { readonly kind: "withoutScale"; readonly controller: ControllerReference }
	/** 404, another uid under the name, or a kind that is not served any more; `controller` is who is missing. */
	| { readonly kind: "gone"; readonly controller: ControllerReference };

export interface Owners {
	/** Of a pod, by its own reference: this very uid. */
	ofPod(controller: ControllerReference): Promise<Owner>;
	/** Of a remembered controller: whoever has the name now. */
	ofName(controller: ControllerReference): Promise<Owner>;
}

/** Rejects where an API server does not answer: an unknown scale is no scale of 0. */
export function createOwners(api: Pick<ClusterApi, "getScale">, namespace: string): Owners {
	const answers = new Map<string, Promise<ScaleAnswer>>();

	function ask(controller: ControllerReference): Promise<ScaleAnswer> {
		const key = controllerKey(controller);
		const answer = answers.get(key) ?? api.getScale(controller, namespace);
		answers.set(key, answer);
		return answer;
	}

	async function find(controller: ControllerReference, isThatOne: (uid: string, named: string) => boolean) {
		const answer = await ask(controller);
		const above = answer.kind === "replicas" ? answer.ownedBy : undefined;
		// A ReplicaSet of anything but a Deployment decides for itself, as in getPodReplicaSet.
		const isDeployments = above?.kind === "Deployment" && above.apiVersion.startsWith("apps/");
		const direct = ownerOf(controller, answer, isThatOne);
		return isDeployments && direct.kind === "scaled" ? ownerOf(above, await ask(above), isThatOne) : direct;
	}

	return {
		ofPod: (controller) => find(controller, (uid, named) => uid === named),
		ofName: (controller) => find(controller, () => true),
	};
}

function ownerOf(
	controller: ControllerReference,
	answer: ScaleAnswer,
	isThatOne: (uid: string, named: string) => boolean,
): Owner {
	if (answer.kind === "gone" || answer.kind === "withoutScale") return { kind: answer.kind, controller };
	if (!isThatOne(answer.uid, controller.uid)) return { kind: "gone", controller };
	const found = { ...controller, uid: answer.uid };
	if (answer.kind === "unsettled") return { kind: "unsettled", controller: found };
	return { kind: "scaled", controller: found, wants: answer.replicas };
}
