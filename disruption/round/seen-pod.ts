// What a run last saw of a pod: its version, its labels, and how often it changes. Who evicts a pod that changes all the
// time does so right after a change, because a 409 uses up a disruption of a native PodDisruptionBudget for two minutes.
import type { PodReference } from "../budget/cluster.ts";
import type { PodVersion } from "../budget/coverage-judgement.ts";

export interface SeenPod extends PodVersion {
	/** When this very version was first seen, on the clock of the run. */
	readonly since: number;
	/** Of a pod that somebody keeps changing: how often, as far as looks have shown. */
	readonly changes?: { readonly everyMs: number; readonly isMeasured: boolean };
	/** Its phase was Pending: as such it costs no budget anything. */
	readonly hasNotStarted: boolean;
	/** When it was changed last, where a look was just before. */
	readonly changedAt?: number;
}

/** A pod with what was last seen of it. */
export interface WatchedPod {
	readonly pod: PodReference;
	seen: SeenPod;
}

/** A consistent read of this very pod: another uid under its name is `gone`. */
export type PodReading =
	| { readonly kind: "gone" }
	| ({ readonly kind: "terminating" | "present" } & Pick<SeenPod, "resourceVersion" | "labels" | "hasNotStarted">);

/** Changes further apart are no trouble, as for an agent (pod-heartbeats.ts). */
const oftenMs = 1_000;
/** Two looks say little of how often a pod changes: it may have been just before the first one. */
const oftenAtMostMs = 250;
/** Looks this close to each other show when a change was. */
const closeMs = 150;

/** `readAt`: on the clock of the run, before it was asked for; left out: nobody knows, so it is too old for everything. */
export function seenPod(
	{ resourceVersion, labels, hasNotStarted }: Pick<SeenPod, "resourceVersion" | "labels" | "hasNotStarted">,
	readAt = Number.NEGATIVE_INFINITY,
): SeenPod {
	return { resourceVersion, labels, readAt, since: readAt, hasNotStarted };
}

/** Reads the pod and keeps what is there. */
export async function seeAnew<Reading extends PodReading>(
	watched: WatchedPod,
	read: () => Promise<Reading>,
	now: () => number,
): Promise<Reading> {
	const readAt = now();
	const found = await read();
	if (found.kind === "gone") return found;
	const before = watched.seen;
	const seen = seenPod(found, readAt);
	const { labels, hasNotStarted } = seen;
	watched.seen =
		seen.resourceVersion === before.resourceVersion
			? // An etcd that came back from a backup may have the same version of something else.
				{ ...before, labels, hasNotStarted, readAt }
			: { ...seen, ...changesOf(before, readAt), ...(readAt - before.readAt <= closeMs && { changedAt: readAt }) };
	return found;
}

function changesOf({ since, changes, changedAt, readAt: lookedAt }: SeenPod, readAt: number): Pick<SeenPod, "changes"> {
	const everyMs = Math.ceil(readAt - since);
	if (changedAt !== undefined && readAt - lookedAt <= closeMs && everyMs <= oftenMs) {
		return { changes: { everyMs: Math.max(1, everyMs), isMeasured: true } };
	}
	// After a longer pause nobody knows how many changes there were: a pod that was busy is believed to be so still.
	if (changes?.isMeasured || everyMs > oftenMs) return changes ? { changes } : {};
	return { changes: { everyMs: Math.max(everyMs, oftenAtMostMs, changes?.everyMs ?? 0), isMeasured: false } };
}

/** It has been quiet for long enough. */
export function isQuietNow(watched: WatchedPod): void {
	const { changes: _, ...seen } = watched.seen;
	watched.seen = seen;
}
