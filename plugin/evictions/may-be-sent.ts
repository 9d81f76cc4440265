// Judges whether an eviction may be sent at this moment, with a grant or without one.
import type { Places } from "../../disruption/round/places.ts";
import type { EvictionJob } from "./eviction-job.ts";

/** Call this right before a request is written, because a pause, a stop or the timeout may come while an earlier step takes long. */
export function mayBeSent(
	{ timeout }: Pick<EvictionJob, "timeout">,
	places: Pick<Places, "isPaused">,
	stop: AbortSignal,
): boolean {
	return !places.isPaused && !stop.aborted && !timeout.signal.aborted;
}
