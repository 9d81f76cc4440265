// Estimates how long pods took to become ready, by template. A pod shows only its last change to ready, which a lost readiness may have
// delayed. Containers and pods of the same template reveal such delays.
import type { V1Pod } from "@kubernetes/client-node";
import { controllerOf } from "../../disruption/budget/pod.ts";
import { readyCondition } from "../kubernetes/pod-status.ts";

interface Start {
	/** From the pod's creation to the start of its last container. */
	readonly begins: number;
	/** From then until the last change to ready. */
	readonly readies: number;
	/** Whether this must be the pod's first change to ready. */
	readonly isFirst: boolean;
}

/** A longer time means that the pod waited for a node or lost its readiness later. */
const longestStartSeconds = 600;
/** Without probes, a pod is ready as soon as its containers run and the kubelet has reported it. */
const readyAtOnceSeconds = 2;
/** Pods of one template become ready in about the same time. */
const alike = { factor: 2, seconds: 5 };
/** With probes that start early and allow few failures, a pod is usually ready sooner than this. */
const longestUnprovenSeconds = 30;

/** Identifies the template by the pod's controller and, if labelled, its revision. Undefined without a controller. */
export function templateOf(pod: V1Pod): string | undefined {
	const controller = controllerOf(pod);
	return controller && `${controller.uid} ${pod.metadata?.labels?.["controller-revision-hash"] ?? ""}`;
}

/** Whether these pods show how long the pod's template takes to start. If not, other pods have to be read. */
export function isStartKnown(pod: V1Pod, pods: readonly V1Pod[]): boolean {
	const template = templateOf(pod);
	const seen = pods.filter((each) => templateOf(each) === template).map((each) => ({ each, start: startOf(each) }));
	// Pods of one node may have lost their readiness together.
	const nodes = new Set(seen.flatMap(({ each, start }) => (start ? [each.spec?.nodeName] : [])));
	return nodes.size > 1 || seen.some(({ start }) => start?.isFirst === true);
}

/** In seconds, by template. Templates without a known start are left out. */
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

/** Undefined if the pod is not ready, a container has restarted, or the times contradict each other. */
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
