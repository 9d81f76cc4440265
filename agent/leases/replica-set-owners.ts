// Whose a ReplicaSet is, as it was read in the last 5 s: pods name their ReplicaSet, and how many there should be says its Deployment.
//
// Assumed: a ReplicaSet changes hands only where somebody edits its labels or owner by hand. Then its Deployment makes pods in
// its place, so that the two have more pods than the Deployment wants: who counts sees that, and asks anew
// (expected-pods.ts). Until they are there, a count may be one of up to 5 s ago: no older than what a watch that is called
// alive may show. How many pods the Deployment wants is never kept.
import type { ControllerReference } from "../../disruption/budget/pod.ts";
import { controllerKey } from "../../disruption/lease/remembered-controllers.ts";
import type { ControllerName, ScaleAnswer } from "../cluster-api/cluster-api.ts";
import { signOfLifeMs } from "../kubernetes/watch-sink.ts";
import type { Clock } from "../process/clock.ts";

/** Those of some hundred workloads, with room; less than a megabyte. */
const maxKept = 2_000;

interface KnownOwner {
	/** The ReplicaSet's own. */
	readonly uid: string;
	/** Undefined where it had none. */
	readonly deployment: ControllerReference | undefined;
	/** When it was asked for. */
	readonly askedAt: number;
}

export class ReplicaSetOwners {
	readonly #clock: Pick<Clock, "now">;
	readonly #known = new Map<string, KnownOwner>();

	constructor(clock: Pick<Clock, "now">) {
		this.#clock = clock;
	}

	/** The Deployment of this very ReplicaSet; undefined where it has to be asked for. */
	find(replicaSet: ControllerReference, namespace: string): ControllerReference | undefined {
		const known = this.#known.get(keyOf(replicaSet, namespace));
		if (known?.uid !== replicaSet.uid || this.#clock.now() - known.askedAt >= signOfLifeMs) return undefined;
		return known.deployment;
	}

	/** Asks for a scale, and keeps whose it is. */
	async ask(controller: ControllerName, namespace: string, ask: () => Promise<ScaleAnswer>): Promise<ScaleAnswer> {
		const askedAt = this.#clock.now();
		const answer = await ask();
		if (controller.kind !== "ReplicaSet") return answer;
		const key = keyOf(controller, namespace);
		// An older answer that comes late says nothing new.
		if (askedAt < (this.#known.get(key)?.askedAt ?? askedAt)) return answer;
		if (this.#known.size >= maxKept) this.#known.clear();
		const uid = answer.kind === "replicas" ? answer.uid : "";
		this.#known.set(key, { uid, deployment: deploymentOf(answer), askedAt });
		return answer;
	}
}

/** A ReplicaSet of anything but a Deployment decides for itself, as in getPodReplicaSet of pkg/controller/disruption. */
export function deploymentOf(answer: ScaleAnswer): ControllerReference | undefined {
	const above = answer.kind === "replicas" ? answer.ownedBy : undefined;
	return above?.kind === "Deployment" && above.apiVersion.startsWith("apps/") ? above : undefined;
}

function keyOf(controller: ControllerName, namespace: string): string {
	return `${namespace} ${controllerKey(controller)}`;
}
