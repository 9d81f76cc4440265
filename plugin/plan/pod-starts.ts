// Finds how long pods took from their creation until they were first ready, by template. A pod shows only when it last became ready: it may
// have lost its readiness in between, or its whole node may have been away. So that time is not used if the pod's containers, or other pods
// of its template, show that the pod was ready earlier.
import type { V1Pod } from "@kubernetes/client-node";
import { controllerOf } from "../../disruption/budget/pod.ts";
import { readyCondition } from "../kubernetes/pod-status.ts";

interface Start {
	/** From the pod's creation to the start of its last container, including scheduling, images and init containers. */
	readonly begins: number;
	/** From there until it last became ready. */
	readonly readies: number;
	/** Whether no other transition can have come in between. */
	readonly isFirst: boolean;
}

/** A longer time means that the pod waited for a node or lost its readiness later. */
const longestStartSeconds = 600;
/** Without probes, a pod is ready as soon as its containers run and the kubelet has reported it. */
const readyAtOnceSeconds = 2;
/** Pods of one template become ready in about the same time. */
const alike = { factor: 2, seconds: 5 };
/** If probes run from the start, a pod is usually ready sooner than this. */
const longestUnprovenSeconds = 30;

/**
 * Identifies the pod's template: by its controller and, if a label of the pod names it, by the controller's revision. Undefined for a pod
 * without a controller.
 */
export function templateOf(pod: V1Pod): string | undefined {
	const controller = controllerOf(pod);
	return controller && `${controller.uid} ${pod.metadata?.labels?.["controller-revision-hash"] ?? ""}`;
}

/** Whether the pod's start time is known from these pods of its template. If not, other pods have to be read. */
export function isStartKnown(pod: V1Pod, pods: readonly V1Pod[]): boolean {
	const template = templateOf(pod);
	const seen = pods.filter((each) => templateOf(each) === template).map((each) => ({ each, start: startOf(each) }));
	// Pods of one node may have lost their readiness together.
	const nodes = new Set(seen.flatMap(({ each, start }) => (start ? [each.spec?.nodeName] : [])));
	return nodes.size > 1 || seen.some(({ start }) => start?.isFirst === true);
}

/** Returns start times in seconds, by template. Templates without a known start are left out. */
export function readStarts(pods: readonly V1Pod[]): ReadonlyMap<string, readonly number[]> {
	const byUid = new Map(pods.map((pod) => [pod.metadata?.uid ?? "", pod]));
	const byTemplate = Map.groupBy(byUid.values(), (pod) => templateOf(pod) ?? "");
	const starts = new Map<string, readonly number[]>();
	for (const [template, alikePods] of byTemplate) {
		const seen = alikePods.flatMap((pod) => startOf(pod) ?? []);
		const quickest = Math.min(...seen.map(({ readies }) => readies));
		const longest = quickest * alike.factor + alike.seconds;
		const seconds = seen
			.map(({ begins, readies }) => begins + (readies <= longest ? readies : quickest))
			.filter((each) => each <= longestStartSeconds);
		if (seconds.length > 0 && template !== "") starts.set(template, seconds);
	}
	return starts;
}

/** Undefined for a pod that is not ready, whose containers have restarted, or whose times contradict each other. */
function startOf(pod: V1Pod): Start | undefined {
	const { metadata, spec, status } = pod;
	const ready = readyCondition(pod);
	const containers = status?.containerStatuses ?? [];
	if (!ready || containers.some(({ restartCount }) => restartCount > 0)) return undefined;
	const created = millis(metadata?.creationTimestamp);
	const readyAt = millis(ready.lastTransitionTime);
	const startedAt = Math.max(...containers.map(({ state }) => millis(state?.running?.startedAt)));
	if (readyAt < created || !Number.isFinite(readyAt - created)) return undefined;
	const isStartTold = containers.length > 0 && startedAt >= created && startedAt <= readyAt;
	const begins = isStartTold ? (startedAt - created) / 1_000 : 0;
	const readies = (readyAt - created) / 1_000 - begins;
	const probes = (spec?.containers ?? []).flatMap(({ readinessProbe, startupProbe }) => [
		...(readinessProbe ? [readinessProbe] : []),
		...(startupProbe ? [startupProbe] : []),
	]);
	if (!isStartTold) return { begins, readies, isFirst: false };
	if (probes.length === 0 && (spec?.readinessGates ?? []).length === 0) {
		return { begins, readies: Math.min(readies, readyAtOnceSeconds), isFirst: true };
	}
	const isSlow = probes.some(
		({ initialDelaySeconds = 0, failureThreshold = 3 }) => initialDelaySeconds >= 10 || failureThreshold > 3,
	);
	return { begins, readies: isSlow ? readies : Math.min(readies, longestUnprovenSeconds), isFirst: false };
}

function millis(time: Date | undefined): number {
	return time === undefined ? Number.NaN : Date.parse(String(time));
}
