// A pod that is on its way already.
import type { V1Pod } from "@kubernetes/client-node";
import { formatElapsed } from "../../flags/duration.ts";

/** Undefined for one that is not terminating. `now`: milliseconds since the epoch. */
export function terminationText({ metadata }: V1Pod, now: number): string | undefined {
	const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata ?? {};
	if (deletionTimestamp === undefined) return undefined;
	const endsAt = new Date(deletionTimestamp).getTime();
	const since = formatElapsed(now - endsAt + deletionGracePeriodSeconds * 1_000);
	if (!Number.isFinite(endsAt) || now <= endsAt) {
		return `it is terminating already, for ${since} of at most ${deletionGracePeriodSeconds}s`;
	}
	const why =
		finalizers.length > 0
			? `finalizers hold it: ${finalizers.join(", ")}`
			: "is the kubelet of its node alive? Until that says so, nobody knows that it has stopped";
	return `it is terminating already, for ${since}, and should be gone since ${formatElapsed(now - endsAt)}: ${why}`;
}
