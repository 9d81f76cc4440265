// What became of a pod that was to be evicted: the end of all its tries, and of the wait until it was gone.
import type { UsedBy } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import { usedByNames, usedBySuffix, waitText } from "../events/used-by-text.ts";
import type { Reachability } from "../fleet/reachability.ts";
import type { EvictionJob } from "./eviction-job.ts";

export type PodOutcome =
	| { readonly kind: "evicted" }
	/** It was gone before anything was accepted. */
	| { readonly kind: "gone" }
	/** Not evicted because the run was stopped. */
	| { readonly kind: "stopped" }
	| FailedPod;

export interface FailedPod {
	readonly kind: "failed";
	readonly message: string;
	readonly reason: Reason;
	/** Clusters without an answer were the reason. */
	readonly unreachable: boolean;
	/** What a waiting pod waited for last, for the summary. */
	readonly waitedFor?: string;
}

/** In kubectl's words for a pod that was not evicted. */
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

/** Its time was over before it was evicted. */
export function timedOut(
	job: EvictionJob,
	{
		reason,
		last,
		isUnanswered = false,
	}: {
		readonly reason: Reason | undefined;
		readonly last: { readonly message: string; readonly usedBy?: readonly UsedBy[] } | undefined;
		/** For clusters that give no answer in time. */
		readonly isUnanswered?: boolean;
	},
	{ reachability, wallClock }: { readonly reachability: Pick<Reachability, "lost">; readonly wallClock: () => number },
): PodOutcome {
	// Another run has the node now.
	if (job.hold?.lost.aborted) return { kind: "stopped" };
	const waitedFor = last && waitText(last, wallClock());
	const unreachable = isUnanswered || reachability.lost.length > 0;
	// A drain says it of the node, once. Many pods may have waited for the same, so there are no more than names.
	const why = last && job.node === undefined ? `: ${last.message}${usedBySuffix(usedByNames(last.usedBy ?? []))}` : "";
	const message = `global timeout reached: ${job.timeout.text}${why}`;
	return {
		...failedPod(job, { reason: unreachable ? "PeerUnreachable" : (reason ?? "TimedOut"), message }),
		unreachable,
		...(waitedFor !== undefined && { waitedFor }),
	};
}
