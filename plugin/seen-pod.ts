// What a run last saw of a pod: its version, its labels, and how often it changes. Who evicts a pod that changes all the
// time does so right after a change, because a 409 uses up a disruption of a native PodDisruptionBudget for two minutes.
import type { V1Pod } from "@kubernetes/client-node";
import type { PodVersion } from "../disruption/coverage-judgement.ts";
import { type EvictionTarget, type PodReading, readPod } from "./eviction-request.ts";
import type { KubeContext } from "./kube-context.ts";

export interface SeenPod extends PodVersion {
	/** When this very version was first seen, on the clock of the run. */
	readonly since: number;
	/** As far as looks have shown: how long the version before was there. */
	readonly changesEveryMs?: number;
}

/** A pod with what was last seen of it. */
export interface WatchedPod {
	readonly context: KubeContext;
	readonly pod: EvictionTarget;
	seen: SeenPod;
}

/** Changes further apart are no trouble, as for an agent (heartbeats.ts). */
const oftenMs = 1_000;

/** `readAt`: on the clock of the run, before it was asked for; left out: nobody knows, so it is too old for everything. */
export function seenPod({ metadata }: V1Pod, readAt = Number.NEGATIVE_INFINITY): SeenPod {
	const { resourceVersion = "", labels = {} } = metadata ?? {};
	return { resourceVersion, labels, readAt, since: readAt };
}

/** Reads the pod and keeps what is there. */
export async function seeAnew(job: WatchedPod, now: () => number): Promise<PodReading> {
	const readAt = now();
	const found = await readPod(job.context.client, job.pod);
	if (found.kind === "gone") return found;
	const before = job.seen;
	const seen = seenPod(found.pod, readAt);
	if (seen.resourceVersion === before.resourceVersion) {
		job.seen = { ...before, readAt };
	} else {
		const everyMs = Math.ceil(readAt - before.since);
		job.seen = { ...seen, ...(everyMs <= oftenMs && { changesEveryMs: Math.max(1, everyMs) }) };
	}
	return found;
}

/** It has been quiet for long enough. */
export function isQuietNow(job: WatchedPod): void {
	const { changesEveryMs: _, ...seen } = job.seen;
	job.seen = seen;
}
