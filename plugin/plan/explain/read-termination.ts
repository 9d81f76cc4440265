import type { V1Pod } from "@kubernetes/client-node";
import { formatElapsed } from "../../flags/duration.ts";

export interface Termination {
	readonly text: string;
	/** Whether the pod should be gone by now. A drain waits for it for an unknown time. */
	readonly isOverdue: boolean;
}

/** Undefined if the pod is not terminating. `now`: ms since the epoch. */
export function readTermination({ metadata }: V1Pod, now: number): Termination | undefined {
	const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata ?? {};
	if (deletionTimestamp === undefined) return undefined;
	const endsAt = new Date(deletionTimestamp).getTime();
	const since = formatElapsed(now - endsAt + deletionGracePeriodSeconds * 1_000);
	if (!Number.isFinite(endsAt) || now <= endsAt) {
		const text = `it is terminating already, for ${since} of at most ${deletionGracePeriodSeconds}s`;
		return { text, isOverdue: false };
	}
	const why =
		finalizers.length > 0
			? `finalizers hold it: ${finalizers.join(", ")}`
			: "is the kubelet of its node alive? Only the kubelet can confirm that the pod has stopped";
	const text = `it is terminating already, for ${since}, and should be gone since ${formatElapsed(now - endsAt)}: ${why}`;
	return { text, isOverdue: true };
}
