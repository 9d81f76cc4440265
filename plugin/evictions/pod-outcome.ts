// What became of a pod that was to be evicted: the end of all its tries, and of the wait until it was gone.
import type { Reason } from "../events/reason.ts";
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
