// What one try to evict a pod came to: its end, or why there is another try.
import { type Failure, retryAfterMs } from "../../disruption/budget/classify-failure.ts";
import type { EventSink } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";
import { failedPod, type PodOutcome } from "./pod-outcome.ts";
import type { Wait } from "./waiting-event.ts";

export type EvictionStep =
	| { readonly kind: "accepted" }
	| PodOutcome
	| TryAgain
	/** A stop or a timeout came first; `last`: what it waited for. */
	| { readonly kind: "over"; readonly last?: Wait };

/** Ask who covers the pod, and try again after so long. */
export interface TryAgain {
	readonly kind: "again";
	readonly afterMs: number;
	readonly reason?: Reason;
	readonly message?: string;
	/** What was told of this try holds for the next one: no refusal came. */
	readonly isSameTry?: boolean;
}

/** What was asked for this pod failed. */
export function stepAfter(job: EvictionJob, { kind, reason, message, afterMs }: Failure): EvictionStep {
	return kind === "refuse" ? failedPod(job, { reason, message }) : { kind: "again", afterMs, reason, message };
}

/** Tells in kubectl's words that the pod is tried again. */
export function retryLater(
	job: EvictionJob,
	{
		reason,
		message,
		inTerminatingNamespace = false,
	}: {
		readonly reason: Reason;
		readonly message: string;
		readonly inTerminatingNamespace?: boolean;
	},
	emit: EventSink,
): TryAgain {
	const { name, namespace } = job.pod;
	const verb = job.deletes ? "deleting" : "evicting";
	const which = inTerminatingNamespace
		? `pod "${name}" from terminating namespace "${namespace}"`
		: `pods/"${name}" -n "${namespace}"`;
	const line = `error when ${verb} ${which} (will retry after 5s): ${message}`;
	emit({ type: "pod.retrying", ...podEvent(job), reason, message: line, retryAfterMs });
	return { kind: "again", afterMs: retryAfterMs, reason };
}
