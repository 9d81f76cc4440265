// One pod to be evicted, from the question who covers it to its end.
import type { V1Pod } from "@kubernetes/client-node";
import type { PodEvent } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import { timerMs } from "../flags/duration.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { PodDeletions } from "../kubernetes/pod-deletions.ts";
import type { EvictionTarget } from "./eviction-request.ts";
import { type SeenPod, seenPod } from "./seen-pod.ts";

/** The time a job may take: of its node for a drain, of the command for an eviction. */
export interface Timeout {
	readonly signal: AbortSignal;
	/** As it was given, for kubectl's message. */
	readonly text: string;
}

export interface EvictionJob {
	readonly context: KubeContext;
	readonly pod: EvictionTarget;
	/** Read anew where it has grown old: labels change. */
	seen: SeenPod;
	readonly node?: string;
	readonly timeout: Timeout;
	/** DELETE instead of an eviction. */
	readonly deletes: boolean;
	/** How long the pod may take to terminate. */
	readonly graceSeconds: number;
	/** Tells when it is gone, where its node is watched. */
	readonly deletions?: PodDeletions;
	attempts: number;
}

export type JobOutcome =
	| { readonly kind: "evicted" }
	/** It was gone before anything was accepted. */
	| { readonly kind: "gone" }
	/** Not evicted because the run was stopped. */
	| { readonly kind: "stopped" }
	| {
			readonly kind: "failed";
			readonly message: string;
			readonly reason: Reason;
			/** Clusters without an answer were the reason. */
			readonly unreachable: boolean;
			/** What a waiting pod waited for last, for the summary. */
			readonly waitedFor?: string;
	  };

/** What one try came to. */
export type TryOutcome =
	| { readonly kind: "accepted" }
	| { readonly kind: "gone" }
	/** Ask who covers the pod, and try again after so long. */
	| {
			readonly kind: "again";
			readonly afterMs: number;
			readonly reason?: Reason;
			/** Why, where nobody has been told yet. */
			readonly message?: string;
	  }
	| Extract<JobOutcome, { kind: "stopped" | "failed" }>
	/** An agent does not understand us, or does not let us: for good, unless the fleet has become another one. */
	| { readonly kind: "agentRefused"; readonly message: string }
	/** `waitedFor`: in words; `unreachable`: for clusters that give no answer in time. */
	| {
			readonly kind: "timedOut";
			readonly waitedFor?: string;
			readonly reason?: Reason;
			readonly unreachable?: boolean;
	  };

/** Where a pod does not say how long it may take to terminate. */
const defaultGraceSeconds = 30;

export function createJob(
	pod: V1Pod,
	rest: Pick<EvictionJob, "context" | "timeout"> & {
		readonly node?: string;
		readonly deletes?: boolean;
		readonly deletions?: PodDeletions | undefined;
		readonly gracePeriodSeconds: number;
		/** On the clock of the run, before the pod was asked for. */
		readonly readAt?: number;
	},
): EvictionJob {
	const { metadata, spec } = pod;
	const { context, timeout, node, deletes = false, deletions, gracePeriodSeconds, readAt } = rest;
	return {
		context,
		pod: { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", uid: metadata?.uid ?? "" },
		seen: seenPod(pod, readAt),
		...(node !== undefined && { node }),
		timeout,
		deletes,
		graceSeconds:
			gracePeriodSeconds >= 0 ? gracePeriodSeconds : (spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds),
		...(deletions && { deletions }),
		attempts: 0,
	};
}

/** kubectl's own pause after a refusal. */
export const retryAfterMs = 5_000;

export function podEvent({ context, pod, node }: EvictionJob): PodEvent {
	const { namespace, name, uid } = pod;
	return { context: context.name, namespace, pod: name, uid, ...(node !== undefined && { node }) };
}

/** kubectl's words for a pod that was not evicted. */
export function evictionError(job: EvictionJob, message: string): string {
	return `error when ${verb(job)} pods/"${job.pod.name}" -n "${job.pod.namespace}": ${message}`;
}

export function retryLine(job: EvictionJob, message: string, terminatingNamespace: boolean): string {
	const { name, namespace } = job.pod;
	const which = terminatingNamespace
		? `pod "${name}" from terminating namespace "${namespace}"`
		: `pods/"${name}" -n "${namespace}"`;
	return `error when ${verb(job)} ${which} (will retry after 5s): ${message}`;
}

function verb({ deletes }: EvictionJob): string {
	return deletes ? "deleting" : "evicting";
}

/** A timeout of 0 never comes, one below is over already. The timer does not keep the process alive. */
export function createTimeout(ms: number, text: string): Timeout {
	if (ms < 0) return { signal: AbortSignal.abort(new Error("timed out")), text };
	return { signal: ms > 0 ? AbortSignal.timeout(timerMs(ms)) : new AbortController().signal, text };
}
