// Keeps what a run last saw of a pod: its version, its labels, and how often it changes. A run evicts a busy pod right after a change,
// because a 409 uses up a disruption of a native PodDisruptionBudget for two minutes.
import type { PodReference } from "../budget/cluster.ts";
import type { PodVersion } from "../budget/coverage-judgement.ts";

export interface SeenPod extends PodVersion {
	/** When this very version was first seen, on the run's clock. */
	readonly since: number;
	/** How often the pod changes, as far as reads have shown, if something keeps changing it. */
	readonly changes?: { readonly everyMs: number; readonly isMeasured: boolean };
	/** Its phase was Pending, it was not ready and had no pre-activity. Such a pod costs no budget anything. */
	readonly hasNotStarted: boolean;
	/** When the pod last changed. Known only if another read came shortly before the one that saw the change. */
	readonly changedAt?: number;
}

/** A pod with what was last seen of it. */
export interface WatchedPod {
	readonly pod: PodReference;
	seen: SeenPod;
}

/**
 * The result of a consistent read of this very pod. The read returns undefined instead if the pod is gone, or if its name has another uid.
 */
export interface PodReading extends Pick<SeenPod, "resourceVersion" | "labels" | "hasNotStarted"> {
	readonly isTerminating: boolean;
}

/** Changes that are further apart cause no problem, here and in agents (pod-heartbeats.ts). */
const oftenMs = 1_000;
/** The shortest interval that is derived from two reads alone: the last change may have come just before the first read. */
const oftenAtMostMs = 250;
/** Two reads this close to each other show when a change happened. */
const closeMs = 150;

/**
 * Returns what one read shows of a pod. `readAt` is the time on the run's clock before the read was requested. Without `readAt`, the age is
 * unknown, and the version counts as too old for any use.
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
	// After a longer pause between reads, the number of changes is unknown. A pod that was busy is still treated as busy.
	if (changes?.isMeasured || everyMs > oftenMs) return changes ? { changes } : {};
	return { changes: { everyMs: Math.max(everyMs, oftenAtMostMs, changes?.everyMs ?? 0), isMeasured: false } };
}

/** Marks the pod as not busy, because it has been quiet for long enough. */
export function isQuietNow(watched: WatchedPod): void {
	const { changes: _, ...seen } = watched.seen;
	watched.seen = seen;
}
