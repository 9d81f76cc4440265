// Finds pods that keep changing without any effect on a count, and how often they change. For example, operators write heartbeats into
// annotations. Runs evict such a pod right after a change.
import { isDeepStrictEqual } from "node:util";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { Clock } from "../process/clock.ts";

/** A pod that changes less often is not busy, here and in runs (seen-pod.ts). */
const oftenMs = 1_000;

interface Beat {
	readonly at: number;
	/** Milliseconds since the previous beat. */
	readonly everyMs: number;
}

export class PodHeartbeats {
	readonly #clock: Clock;
	readonly #lastBeats = new Map<string, Beat>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** `before` is undefined for a new pod. */
	changed(before: PodRecord | undefined, after: PodRecord): void {
		if (!before || !isDeepStrictEqual(countedOf(before), countedOf(after))) return;
		const at = this.#clock.now();
		const everyMs = at - (this.#lastBeats.get(after.uid)?.at ?? Number.NEGATIVE_INFINITY);
		this.#lastBeats.set(after.uid, { at, everyMs });
	}

	/** Returns the milliseconds between the last two changes without effect, or undefined for a pod that is quiet or rarely changes. */
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

/** A count uses neither the version nor the status, which is for people. */
function countedOf(pod: PodRecord): Omit<PodRecord, "resourceVersion" | "status"> {
	const { resourceVersion: _, status: __, ...counted } = pod;
	return counted;
}
