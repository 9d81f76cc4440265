// How long pods take, in seconds, from below and from above: until they are gone, and until their replacements are ready.
import type { V1Pod } from "@kubernetes/client-node";
import { controllerOf } from "../../disruption/pod.ts";
import { readyCondition } from "../kubernetes/pod-status.ts";
import type { PodPace } from "./drain-plan.ts";

export interface PaceRange {
	readonly atLeast: PodPace;
	readonly atMost: PodPace;
	/** Whether pods of the same controller were seen to start; else it is assumed. */
	readonly measured: boolean;
}

/** After the grace period: the kubelet's report, our own poll (1 s) and the round for the next pod (1 s). */
const overheadSeconds = 3;
/** A start that took longer is taken for a pod that waited for a node or lost its readiness later. */
const longestStartSeconds = 600;
/** Where nothing was seen: from a process with its image there, to one that has to be pulled and loads data. */
const assumedStart = { atLeast: 1, atMost: 120 };
/** On another node the image may have to be pulled first, and times are whole seconds. */
const startMargin = { factor: 2, seconds: 10 };

/** `now`: milliseconds since the epoch. `gracePeriodSeconds` below 0: the pod's own. */
export function createPaceReader(
	pods: readonly V1Pod[],
	{ now, gracePeriodSeconds }: { readonly now: number; readonly gracePeriodSeconds: number },
): (pod: V1Pod) => PaceRange {
	const starts = new Map<string, number[]>();
	for (const pod of pods) {
		const seconds = measuredStart(pod);
		const key = controllerOf(pod)?.uid;
		if (seconds !== undefined && key !== undefined) starts.set(key, [...(starts.get(key) ?? []), seconds]);
	}
	return (pod) => {
		const grace = graceSeconds(pod, { now, gracePeriodSeconds });
		const seen = starts.get(controllerOf(pod)?.uid ?? "") ?? [];
		const replaced = controllerOf(pod)?.uid !== undefined;
		const start =
			seen.length === 0
				? assumedStart
				: {
						atLeast: Math.max(0, Math.min(...seen) - 1),
						atMost: Math.max(...seen) * startMargin.factor + startMargin.seconds,
					};
		return {
			atLeast: { goneAfter: 0, backAfter: replaced ? start.atLeast : 0 },
			atMost: { goneAfter: grace + overheadSeconds, backAfter: replaced ? start.atMost : 0 },
			measured: seen.length > 0 || !replaced,
		};
	};
}

function graceSeconds(
	{ metadata, spec }: V1Pod,
	{ now, gracePeriodSeconds }: { readonly now: number; readonly gracePeriodSeconds: number },
): number {
	// It is terminating already: this is when its time is over.
	if (metadata?.deletionTimestamp !== undefined) {
		return Math.max(0, (Date.parse(String(metadata.deletionTimestamp)) - now) / 1_000);
	}
	return gracePeriodSeconds >= 0 ? gracePeriodSeconds : (spec?.terminationGracePeriodSeconds ?? 30);
}

/** From the pod's creation to its being ready; unknown for one that is not, or whose containers have started again. */
function measuredStart(pod: V1Pod): number | undefined {
	const { metadata, status } = pod;
	const ready = readyCondition(pod);
	const restarted = status?.containerStatuses?.some(({ restartCount }) => restartCount > 0) ?? false;
	if (!ready || restarted) return undefined;
	const seconds =
		(Date.parse(String(ready.lastTransitionTime)) - Date.parse(String(metadata?.creationTimestamp))) / 1_000;
	return seconds >= 0 && seconds <= longestStartSeconds ? seconds : undefined;
}

const niceSeconds = [
	0, 1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1_200, 1_800, 2_700, 3_600,
];
const halfHour = 1_800;

/** Rounded outwards to what a person would say, so that no estimate looks more precise than it is. */
export function roundRange(atLeast: number, atMost: number): { readonly atLeast: number; readonly atMost: number } {
	return {
		atLeast:
			atLeast > 3_600
				? Math.floor(atLeast / halfHour) * halfHour
				: (niceSeconds.findLast((nice) => nice <= atLeast) ?? 0),
		atMost: niceSeconds.find((nice) => nice >= atMost) ?? Math.ceil(atMost / halfHour) * halfHour,
	};
}
