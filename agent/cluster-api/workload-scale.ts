// Reads how many pods a workload of Kubernetes' own kinds wants from the object itself.
import { controllerOf } from "../../disruption/budget/pod.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { objectMeta } from "../kubernetes/kubernetes-objects.ts";
import type { ScaleAnswer } from "./scale-answer.ts";

/** Throws TypeError if the object does not say it. */
export function workloadScale(kind: string, object: unknown): ScaleAnswer {
	const { uid } = objectMeta(object);
	if (kind === "DaemonSet") return ofDaemonSet(object, uid);
	const owner = controllerOf(object);
	const replicas = replicasOf(object);
	// The API server fills in this default, so an object without it is incomplete.
	if (replicas === undefined) throw new TypeError("it has no spec.replicas");
	return { kind: "replicas", replicas, uid, ...(owner && { ownedBy: owner }) };
}

/** The number of nodes is valid only if the DaemonSet's controller has observed the current generation. */
function ofDaemonSet(object: unknown, uid: string): ScaleAnswer {
	const generation = numberIn(object, "metadata", "generation");
	if (generation === undefined) throw new TypeError("it has no metadata.generation");
	if (numberIn(object, "status", "observedGeneration") !== generation) return { kind: "unsettled", uid };
	const replicas = numberIn(object, "status", "desiredNumberScheduled");
	if (replicas === undefined) throw new TypeError("it has no status.desiredNumberScheduled");
	return { kind: "replicas", replicas, uid };
}

/** Returns undefined if the number was left out. Throws TypeError on anything that is not a number of pods. */
export function replicasOf(object: unknown): number | undefined {
	if (!isRecord(object) || !isRecord(object["spec"])) throw new TypeError("its spec is not an object");
	return numberIn(object, "spec", "replicas");
}

/** Returns a whole number from 0 to 2^31 - 1; undefined if it was left out. Throws TypeError on anything else. */
function numberIn(object: unknown, part: "metadata" | "spec" | "status", field: string): number | undefined {
	const fields = isRecord(object) ? (object[part] ?? {}) : {};
	if (!isRecord(fields)) throw new TypeError(`its ${part} is not an object`);
	const value = fields[field] ?? undefined;
	if (value === undefined) return undefined;
	if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value >= 2 ** 31) {
		throw new TypeError(`its ${part}.${field} is ${quote(value)}`);
	}
	return value;
}
