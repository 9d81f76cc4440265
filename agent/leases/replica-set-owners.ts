// Remembers for 5 s which Deployment owns a ReplicaSet: pods name their ReplicaSet, but the number of pods is set in its Deployment.
//
// Assumption: a ReplicaSet changes its owner only if a user edits its labels or owner by hand. Then its former Deployment makes pods to
// replace those of the ReplicaSet, so the two have more pods than the Deployment wants. The count notices that and asks again
// (expected-pods.ts). Until those pods exist, a count may use an owner that is up to 5 s old. A watch that counts as alive may be as old.
// The number of pods that the Deployment wants is never remembered.
import type { ControllerReference } from "../../disruption/budget/pod.ts";
import { controllerKey } from "../../disruption/lease/remembered-controllers.ts";
import type { ControllerName } from "../cluster-api/cluster-api.ts";
import type { ScaleAnswer } from "../cluster-api/scale-answer.ts";
import { signOfLifeMs } from "../kubernetes/watch-sink.ts";
import type { Clock } from "../process/clock.ts";

/** Enough for several hundred workloads, and less than a megabyte. */
const maxKept = 2_000;

interface KnownOwner {
	/** The ReplicaSet's own uid. */
	readonly uid: string;
	/** Undefined if no Deployment owned it. */
	readonly deployment: ControllerReference | undefined;
	/** When the request was sent. */
	readonly askedAt: number;
}

export class ReplicaSetOwners {
	readonly #clock: Pick<Clock, "now">;
	readonly #known = new Map<string, KnownOwner>();

	constructor(clock: Pick<Clock, "now">) {
		this.#clock = clock;
	}

	/** Returns the Deployment that owns exactly this ReplicaSet. Undefined if it must be requested. */
	find(replicaSet: ControllerReference, namespace: string): ControllerReference | undefined {
		const known = this.#known.get(keyOf(replicaSet, namespace));
		if (known?.uid !== replicaSet.uid || this.#clock.now() - known.askedAt >= signOfLifeMs) return undefined;
		return known.deployment;
	}

	/** Requests a scale. If the object is a ReplicaSet, remembers the owner that the answer names. */
	async ask(controller: ControllerName, namespace: string, ask: () => Promise<ScaleAnswer>): Promise<ScaleAnswer> {
		const askedAt = this.#clock.now();
		const answer = await ask();
		if (controller.kind !== "ReplicaSet") return answer;
		const key = keyOf(controller, namespace);
		// A late answer to an older request does not replace a newer one.
		if (askedAt < (this.#known.get(key)?.askedAt ?? askedAt)) return answer;
		if (this.#known.size >= maxKept) this.#known.clear();
		const uid = answer.kind === "replicas" ? answer.uid : "";
		this.#known.set(key, { uid, deployment: deploymentOf(answer), askedAt });
		return answer;
	}
}

/**
 * Returns the Deployment that owns the object of this answer. A ReplicaSet without one counts by its own scale, as in getPodReplicaSet of
 * pkg/controller/disruption.
 */
export function deploymentOf(answer: ScaleAnswer): ControllerReference | undefined {
	const above = answer.kind === "replicas" ? answer.ownedBy : undefined;
	return above?.kind === "Deployment" && above.apiVersion.startsWith("apps/") ? above : undefined;
}

function keyOf(controller: ControllerName, namespace: string): string {
	return `${namespace} ${controllerKey(controller)}`;
}
