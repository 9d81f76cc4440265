// Defines the outcome of a pod's eviction, after all tries and the wait until the pod is gone.
import type { UsedBy } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import { usedByNames, usedBySuffix, waitText } from "../events/used-by-text.ts";
import type { Reachability } from "../fleet/reachability.ts";
import type { EvictionJob } from "./eviction-job.ts";

export type PodOutcome =
	| { readonly kind: "evicted" }
	/** The pod was gone before an eviction was accepted. */
	| { readonly kind: "gone" }
	/** The run was stopped, or lost the node. In the latter case, the eviction may have been accepted. */
	| { readonly kind: "stopped" }
	| FailedPod;

export interface FailedPod {
	readonly kind: "failed";
	readonly message: string;
	readonly reason: Reason;
	/** Whether the reason was that clusters gave no answer. */
	readonly unreachable: boolean;
	/** What the pod waited for last, for the summary. */
	readonly waitedFor?: string;
}

/** Words the failure as kubectl does for a pod that was not evicted. */
export function failedPod(job: EvictionJob, { reason, message }: Pick<FailedPod, "reason" | "message">): FailedPod {
	const { name, namespace } = job.pod;
	const verb = job.deletes ? "deleting" : "evicting";
	return {
		kind: "failed",
		message: `error when ${verb} pods/"${name}" -n "${namespace}": ${message}`,
		reason,
		unreachable: false,
	};
}

export function timedOut(
	job: EvictionJob,
	{
		reason,
		last,
		isUnanswered = false,
	}: {
		readonly reason: Reason | undefined;
		readonly last: { readonly message: string; readonly usedBy?: readonly UsedBy[] } | undefined;
		/** Whether the pod waited for clusters that gave no answer in time. */
		readonly isUnanswered?: boolean;
	},
	{ reachability, wallClock }: { readonly reachability: Pick<Reachability, "lost">; readonly wallClock: () => number },
): PodOutcome {
	// The signal also aborts if this run loses the node.
	if (job.hold?.lost.aborted) return { kind: "stopped" };
	const waitedFor = last && waitText(last, wallClock());
	const unreachable = isUnanswered || reachability.lost.length > 0;
	// A drain reports this once for the node. Only names are listed, because many pods may have waited for the same pods.
	const why = last && job.node === undefined ? `: ${last.message}${usedBySuffix(usedByNames(last.usedBy ?? []))}` : "";
	const message = `global timeout reached: ${job.timeout.text}${why}`;
	return {
		...failedPod(job, { reason: unreachable ? "PeerUnreachable" : (reason ?? "TimedOut"), message }),
		unreachable,
		...(waitedFor !== undefined && { waitedFor }),
	};
}
