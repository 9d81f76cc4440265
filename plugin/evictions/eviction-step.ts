// The result of one attempt to evict a pod: the outcome, or why to try again.
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
	/** A stop, a timeout or the loss of the node came first. `last` is what the pod waited for. */
	| { readonly kind: "over"; readonly last?: Wait };

/** Another try follows after `afterMs` milliseconds, and finds the pod's budgets again. */
export interface TryAgain {
	readonly kind: "again";
	readonly afterMs: number;
	readonly reason?: Reason;
	readonly message?: string;
	/**
	 * Whether the next try repeats this one, because nothing was sent or the API server answered 409. If the next try needs no grant, it is
	 * not reported as a new attempt.
	 */
	readonly isSameTry?: boolean;
}

export function stepAfter(job: EvictionJob, { kind, reason, message, afterMs }: Failure): EvictionStep {
	return kind === "refuse" ? failedPod(job, { reason, message }) : { kind: "again", afterMs, reason, message };
}

/** Reports, in kubectl's words, that the pod will be tried again. */
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
