// Estimates how many seconds pods take to terminate, and their replacements to become ready.
import type { V1Pod } from "@kubernetes/client-node";
import { controllerOf } from "../../disruption/budget/pod.ts";
import type { PodPace } from "./drain-plan.ts";
import { readStarts, templateOf } from "./pod-starts.ts";

export interface PaceRange {
	readonly atLeast: PodPace;
	readonly likely: PodPace;
	readonly atMost: PodPace;
	/** Whether starts of the same template were seen, or the pod has no controller. Otherwise the start is assumed. */
	readonly measured: boolean;
}

/** Added to the grace period: the kubelet's report, our poll (1 s) and the round for the next pod (1 s). */
const overheadSeconds = 3;
/** How long a process usually takes to end on request, including the kubelet's report and the next round. */
const likelyEndSeconds = 2.5;
/** Used if no start was seen: from a local image to one that is pulled, with data to load. */
const assumedStart = { atLeast: 1, likely: 15, atMost: 120 };
/** Another node may have to pull the image, and times are in whole seconds. */
const startMargin = { factor: 2, seconds: 10 };

/** `pods`: the source of start times, by template. `now`: ms since the epoch. `gracePeriodSeconds` below 0: the pod's own. */
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

/** Reads the sleep of a preStop hook, if it has one. */
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
/** The largest ratio of the longest to the shortest estimate. A wider range helps no decision. */
const widest = 4;

/**
 * Returns a range around the likely value and within the possible one, rounded outwards so that no estimate looks too precise. It is
 * rounded less if the range would get too wide.
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
