// Finds pods that keep changing without any effect on a count, and how often they change. For example, operators write heartbeats into
// annotations. Such a pod is evicted right after a change.
import { isDeepStrictEqual } from "node:util";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { Clock } from "../process/clock.ts";

/** Changes further apart than this cause no trouble: an eviction takes a fifth of that time. */
const oftenMs = 1_000;

interface Beat {
	readonly at: number;
	/** Time since the previous beat. */
	readonly everyMs: number;
}

export class PodHeartbeats {
	readonly #clock: Clock;
	readonly #lastBeats = new Map<string, Beat>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** Records a change of a pod. `before` is undefined for a new pod. */
	changed(before: PodRecord | undefined, after: PodRecord): void {
		if (!before || !isDeepStrictEqual(countedOf(before), countedOf(after))) return;
		const at = this.#clock.now();
		const everyMs = at - (this.#lastBeats.get(after.uid)?.at ?? Number.NEGATIVE_INFINITY);
		this.#lastBeats.set(after.uid, { at, everyMs });
	}

	/** Returns the milliseconds between the last two changes without effect; undefined for a pod that is quiet or rarely changes. */
	everyMs(uid: string): number | undefined {
		const beat = this.#lastBeats.get(uid);
		const isBusy = beat !== undefined && beat.everyMs <= oftenMs && this.#clock.now() - beat.at <= oftenMs;
		return isBusy ? Math.ceil(beat.everyMs) : undefined;
	}

	forget(uid: string): void {
		this.#lastBeats.delete(uid);
	}

	clear(): void {
		this.#lastBeats.clear();
	}
}

/** Returns the fields that a count may use: all but the version and the status. Only people read the status. */
function countedOf(pod: PodRecord): Omit<PodRecord, "resourceVersion" | "status"> {
	const { resourceVersion: _, status: __, ...counted } = pod;
	return counted;
}
