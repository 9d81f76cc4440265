// What a pod's own cluster says of it, as the rules of kubectl and of the eviction API read it.
import type { V1Pod, V1PodCondition } from "@kubernetes/client-node";
import { controllerOf, preActivitiesOf } from "../../disruption/budget/pod.ts";

/** Undefined for a pod that is not ready. */
export function readyCondition({ status }: V1Pod): V1PodCondition | undefined {
	return status?.conditions?.find(({ type, status: is }) => type === "Ready" && is === "True");
}

/** Whether the phase is an end. */
export function isFinished({ status }: V1Pod): boolean {
	return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/**
 * It is not up yet. A pod with a pre-activity waits for that all the same, and one that says that it is ready, as no kubelet does of such a
 * pod, is counted as healthy by agents and by Kubernetes. Else as in the eviction API of Kubernetes
 * (pkg/registry/core/pod/storage/eviction.go, canIgnorePDB).
 */
export function hasNotStarted(pod: V1Pod): boolean {
	const { metadata, status } = pod;
	const isPending = status?.phase === "Pending" && readyCondition(pod) === undefined;
	return isPending && preActivitiesOf(metadata?.annotations ?? {}).length === 0;
}

/** A controller makes another pod; not again for one that has ended or is being replaced already. */
export function isReplaced(pod: V1Pod): boolean {
	const controller = controllerOf(pod);
	const ends = pod.metadata?.deletionTimestamp !== undefined || isFinished(pod);
	return controller !== undefined && controller.kind !== "DaemonSet" && !ends;
}
