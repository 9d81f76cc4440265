// Remembers what a run last saw of a pod: its version, its labels, and how often it changes. A run evicts a busy pod right after a change,
// because a 409 uses up a disruption of a native PodDisruptionBudget for two minutes.
import type { PodReference } from "../budget/cluster.ts";
import type { PodVersion } from "../budget/coverage-judgement.ts";

export interface SeenPod extends PodVersion {
	/** When this very version was first read, on the run's clock. */
	readonly since: number;
	/** How often the pod changes, if something keeps changing it. Measured, or estimated from reads that were far apart. */
	readonly changes?: { readonly everyMs: number; readonly isMeasured: boolean };
	/** Its phase was Pending, and it was not ready and had no pre-activity. Such a pod needs no grant. */
	readonly hasNotStarted: boolean;
	/** When the pod last changed. Known only if another read came shortly before the one that saw the change. */
	readonly changedAt?: number;
}

export interface WatchedPod {
	readonly pod: PodReference;
	seen: SeenPod;
}

/** The result of a consistent read of this very pod. If the pod is gone, or if its name has another uid, the read returns undefined. */
export interface PodReading extends Pick<SeenPod, "resourceVersion" | "labels" | "hasNotStarted"> {
	readonly isTerminating: boolean;
}

/** A pod that changes less often is not busy, here and in agents (pod-heartbeats.ts). */
const oftenMs = 1_000;
/** The shortest interval that is derived from two reads alone: the last change may have come just before the first read. */
const oftenAtMostMs = 250;
/** Two reads this close to each other show when a change happened. */
const closeMs = 150;

/**
 * `readAt` is the time on the run's clock before the read was requested. Without it, the age is unknown, and the version counts as too old
 * for any use.
 */
export function seenPod(
	{ resourceVersion, labels, hasNotStarted }: Pick<SeenPod, "resourceVersion" | "labels" | "hasNotStarted">,
	readAt = Number.NEGATIVE_INFINITY,
): SeenPod {
	return { resourceVersion, labels, readAt, since: readAt, hasNotStarted };
}

/** Reads the pod and stores what it finds. Undefined if the pod is gone. */
export async function seeAnew<Reading extends PodReading>(
	watched: WatchedPod,
	read: () => Promise<Reading | undefined>,
	now: () => number,
): Promise<Reading | undefined> {
	const readAt = now();
	const found = await read();
	if (!found) return undefined;
	const before = watched.seen;
	const seen = seenPod(found, readAt);
	const { labels, hasNotStarted } = seen;
	watched.seen =
		seen.resourceVersion === before.resourceVersion
			? // An etcd that was restored from a backup may have the same version with other contents.
				{ ...before, labels, hasNotStarted, readAt }
			: { ...seen, ...changesOf(before, readAt), ...(readAt - before.readAt <= closeMs && { changedAt: readAt }) };
	return found;
}

function changesOf({ since, changes, changedAt, readAt: lookedAt }: SeenPod, readAt: number): Pick<SeenPod, "changes"> {
	const everyMs = Math.ceil(readAt - since);
	if (changedAt !== undefined && readAt - lookedAt <= closeMs && everyMs <= oftenMs) {
		return { changes: { everyMs: Math.max(1, everyMs), isMeasured: true } };
	}
	// After a longer pause between reads, the number of changes is unknown. A busy pod is still treated as busy.
	if (changes?.isMeasured || everyMs > oftenMs) return changes ? { changes } : {};
	return { changes: { everyMs: Math.max(everyMs, oftenAtMostMs, changes?.everyMs ?? 0), isMeasured: false } };
}

/** Marks the pod as not busy. */
export function isQuietNow(watched: WatchedPod): void {
	const { changes: _, ...seen } = watched.seen;
	watched.seen = seen;
}
