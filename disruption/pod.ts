// What the domain keeps of a pod, and when it counts as healthy.
import type { V1Pod } from "@kubernetes/client-node";

/** The owner that controls a pod, by the pod's ownerReference with `controller: true`. */
export interface ControllerReference {
	readonly apiVersion: string;
	readonly kind: string;
	readonly name: string;
	readonly uid: string;
}

/** The projection of a pod from which everything is counted. */
export interface PodRecord {
	readonly uid: string;
	readonly name: string;
	readonly namespace: string;
	readonly resourceVersion: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly node: string;
	readonly controller?: ControllerReference;
	readonly ready: boolean;
	readonly terminating: boolean;
	/** Phase Succeeded or Failed. */
	readonly finished: boolean;
	readonly preActivities: readonly string[];
}

const preActivityPrefix = "pre-activity.xpdb.form3.tech/";

/** Projects a pod as the API server sent it; throws on an object without uid or resourceVersion. */
export function podRecord(pod: V1Pod): PodRecord {
	const { metadata, spec, status } = pod;
	if (!metadata?.uid || !metadata.name || !metadata.namespace || !metadata.resourceVersion) {
		throw new TypeError(`Cannot read pod "${metadata?.name ?? ""}": it has no uid, name, namespace or resourceVersion`);
	}
	const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
	return {
		uid: metadata.uid,
		name: metadata.name,
		namespace: metadata.namespace,
		resourceVersion: metadata.resourceVersion,
		labels: metadata.labels ?? {},
		node: spec?.nodeName ?? "",
		...(owner && {
			controller: { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid },
		}),
		ready: status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false,
		terminating: metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
		finished: status?.phase === "Succeeded" || status?.phase === "Failed",
		preActivities: Object.keys(metadata.annotations ?? {})
			.filter((key) => key.startsWith(preActivityPrefix))
			.map((key) => key.slice(preActivityPrefix.length)),
	};
}

/**
 * Ready, not terminating, not finished; whether it is reserved is the Lease's to say. The rule of countHealthyPods in
 * pkg/controller/disruption, with finished pods left out.
 */
export function isHealthy(pod: PodRecord): boolean {
	return pod.ready && !pod.terminating && !pod.finished;
}
