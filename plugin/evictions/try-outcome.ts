// What one try to evict a pod came to: the answer of its API server, or why nothing could be asked of that.
import type { EventSink } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";
import type { FailedPod } from "./pod-outcome.ts";
import type { Wait } from "./waiting-event.ts";

export type TryOutcome =
	| { readonly kind: "accepted" }
	| { readonly kind: "gone" }
	| TryAgain
	| { readonly kind: "stopped" }
	| FailedPod
	/** An agent does not understand us, or does not let us: for good, unless the fleet has become another one. */
	| { readonly kind: "agentRefused"; readonly message: string }
	/** `unreachable`: for clusters that give no answer in time. */
	| {
			readonly kind: "timedOut";
			readonly waitedFor?: Pick<Wait, "message" | "usedBy">;
			readonly reason?: Reason;
			readonly unreachable?: boolean;
	  };

/** Ask who covers the pod, and try again after so long. */
export interface TryAgain {
	readonly kind: "again";
	readonly afterMs: number;
	readonly reason?: Reason;
	/** Why, where nobody has been told yet. */
	readonly message?: string;
	/** What was told of this try holds for the next one: no refusal came. */
	readonly isSameTry?: boolean;
}

/** kubectl's own pause after a refusal. */
export const retryAfterMs = 5_000;

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
