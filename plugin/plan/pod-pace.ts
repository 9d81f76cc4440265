// Estimates how many seconds pods take until they are gone, and until their replacements are ready.
import type { V1Pod } from "@kubernetes/client-node";
import { controllerOf } from "../../disruption/budget/pod.ts";
import type { PodPace } from "./drain-plan.ts";
import { readStarts, templateOf } from "./pod-starts.ts";

export interface PaceRange {
	readonly atLeast: PodPace;
	/** The expected pace. */
	readonly likely: PodPace;
	readonly atMost: PodPace;
	/** Whether starts of pods with the same template were seen, or the pod has no controller. Otherwise the start is assumed. */
	readonly measured: boolean;
}

/** Added to the grace period: the kubelet's report, our own poll (1 s) and the round for the next pod (1 s). */
const overheadSeconds = 3;
/** How long a process that ends when asked usually takes, including the kubelet's report and the next round. */
const likelyEndSeconds = 2.5;
/** Used if no start was seen. The range goes from a process whose image is present to one that pulls it and loads data. */
const assumedStart = { atLeast: 1, likely: 15, atMost: 120 };
/** On another node, the image may have to be pulled first, and times are in whole seconds. */
const startMargin = { factor: 2, seconds: 10 };

/**
 * Returns a function that estimates a pod's pace. `pods`: start times are taken from these pods, by template. `now`: milliseconds since the
 * epoch. `gracePeriodSeconds` below 0: the pod's own.
 */
export function createPaceReader(
	pods: readonly V1Pod[],
	{ now, gracePeriodSeconds }: { readonly now: number; readonly gracePeriodSeconds: number },
): (pod: V1Pod) => PaceRange {
	const starts = readStarts(pods);
	return (pod) => {
		const grace = graceSeconds(pod, { now, gracePeriodSeconds });
		const hook = Math.min(grace, preStopSeconds(pod));
		const seen = starts.get(templateOf(pod) ?? "") ?? [];
		const replaced = controllerOf(pod) !== undefined;
		const start =
			seen.length === 0
				? assumedStart
				: {
						atLeast: Math.max(0, Math.min(...seen) - 1),
						likely: median(seen),
						atMost: Math.max(...seen) * startMargin.factor + startMargin.seconds,
					};
		return {
			atLeast: { goneAfter: hook, backAfter: replaced ? start.atLeast : 0 },
			likely: {
				goneAfter: Math.min(grace + overheadSeconds, hook + likelyEndSeconds),
				backAfter: replaced ? start.likely : 0,
			},
			atMost: { goneAfter: grace + overheadSeconds, backAfter: replaced ? start.atMost : 0 },
			measured: seen.length > 0 || !replaced,
		};
	};
}

function median(values: readonly number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Returns how long a preStop hook sleeps before the process is asked to end, if the hook says so. */
function preStopSeconds({ spec }: V1Pod): number {
	const seconds = (spec?.containers ?? []).map(({ lifecycle }) => {
		const { sleep, exec } = lifecycle?.preStop ?? {};
		return sleep?.seconds ?? Number(/\bsleep (\d+)\b/.exec(exec?.command?.join(" ") ?? "")?.[1] ?? 0);
	});
	return Math.max(0, ...seconds);
}

function graceSeconds(
	{ metadata, spec }: V1Pod,
	{ now, gracePeriodSeconds }: { readonly now: number; readonly gracePeriodSeconds: number },
): number {
	// The pod is already terminating, so use its remaining time.
	if (metadata?.deletionTimestamp !== undefined) {
		return Math.max(0, (Date.parse(String(metadata.deletionTimestamp)) - now) / 1_000);
	}
	return gracePeriodSeconds >= 0 ? gracePeriodSeconds : (spec?.terminationGracePeriodSeconds ?? 30);
}

const niceSeconds = [
	0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 90, 120, 150, 180, 240, 300, 360, 420, 480, 600, 720,
	900, 1_200, 1_500, 1_800, 2_400, 2_700, 3_600,
];
const halfHour = 1_800;
/** The largest ratio of longest to shortest estimate: a wider range does not help to decide anything. */
const widest = 4;

/**
 * Returns the range as a person would state it: around the likely value and within what is possible, then rounded outwards, so that no
 * estimate looks more precise than it is. It is rounded less if rounding would make the range too wide.
 */
export function estimateRange({ atLeast, likely, atMost }: Readonly<Record<"atLeast" | "likely" | "atMost", number>>): {
	readonly atLeast: number;
	readonly atMost: number;
} {
	const half = Math.sqrt(widest);
	const from = niceBelow(Math.max(atLeast, likely / half, Math.min(1, likely)));
	const to = niceAbove(Math.min(atMost, likely * half));
	return { atLeast: from, atMost: Math.max(from, from === 0 ? to : Math.min(to, niceBelow(from * widest))) };
}

function niceBelow(seconds: number): number {
	if (seconds > 3_600) return Math.floor(seconds / halfHour) * halfHour;
	return niceSeconds.findLast((nice) => nice <= seconds) ?? 0;
}

function niceAbove(seconds: number): number {
	return niceSeconds.find((nice) => nice >= seconds) ?? Math.ceil(seconds / halfHour) * halfHour;
}
