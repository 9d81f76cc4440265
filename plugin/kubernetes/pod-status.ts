// Reads a pod's status by the rules of kubectl and of the eviction API.
import type { V1Pod, V1PodCondition } from "@kubernetes/client-node";
import { controllerOf, preActivitiesOf } from "../../disruption/budget/pod.ts";

export function readyCondition({ status }: V1Pod): V1PodCondition | undefined {
	return status?.conditions?.find(({ type, status: is }) => type === "Ready" && is === "True");
}

export function isFinished({ status }: V1Pod): boolean {
	return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/**
 * Whether the eviction API ignores budgets for the pod because it is pending (pkg/registry/core/pod/storage/eviction.go, canIgnorePDB).
 * Unlike there, false if the pod declares a pre-activity, which has to end first, or if its Ready condition is True.
 */
export function hasNotStarted(pod: V1Pod): boolean {
	const { metadata, status } = pod;
	const isPending = status?.phase === "Pending" && readyCondition(pod) === undefined;
	return isPending && preActivitiesOf(metadata?.annotations ?? {}).length === 0;
}

/**
 * Whether a controller will create another pod that may run elsewhere. False for a pod of a DaemonSet. True also for a static pod, whose
 * controller is its Node: check isStaticPod() too, unless a drain has skipped such pods.
 */
export function isReplaced(pod: V1Pod): boolean {
	const controller = controllerOf(pod);
	const ends = pod.metadata?.deletionTimestamp !== undefined || isFinished(pod);
	return controller !== undefined && controller.kind !== "DaemonSet" && !ends;
}
