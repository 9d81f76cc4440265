// Defines the job of evicting one pod: the pod, its timeout, and the state of its eviction.
import type { V1Pod } from "@kubernetes/client-node";
import { seenPod, type WatchedPod } from "../../disruption/round/seen-pod.ts";
import type { PodEvent } from "../events/events.ts";
import { timerMs } from "../flags/duration.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { PodDeletions } from "../kubernetes/pod-deletions.ts";
import { hasNotStarted, isReplaced } from "../kubernetes/pod-status.ts";

/** The timeout of a job: that of its node in a drain, that of the command in an eviction. */
export interface Timeout {
	readonly signal: AbortSignal;
	/** The timeout as Go formats a duration, for kubectl's message. */
	readonly text: string;
}

/** The run's hold on the pod's node. A run that has lost it must not evict the pod. */
export interface Hold {
	/** Aborts when this run has lost the node. The job's timeout signal aborts too. */
	readonly lost: AbortSignal;
	/** Resolves when a recent check has shown that the run holds the node, when the node is lost, or when `ends` aborts. */
	confirm(ends: AbortSignal): Promise<void>;
}

export interface EvictionJob extends WatchedPod {
	readonly context: KubeContext;
	readonly node?: string;
	readonly timeout: Timeout;
	readonly hold?: Hold;
	/** Whether to send a DELETE instead of an eviction. */
	readonly deletes: boolean;
	/**
	 * Whether to expect no healthy replacement: isReplaced() is false for the pod, or no node could run the replacement. Only a dry run
	 * needs this.
	 */
	readonly staysAway?: boolean;
	readonly graceSeconds: number;
	/** Reports when the pod is gone, if its node is watched. */
	readonly deletions?: PodDeletions;
	attempts: number;
	/** Whether the latest event about the pod already says that it is being evicted without a grant. */
	isTold: boolean;
}

/** Kubernetes' default for terminationGracePeriodSeconds. */
const defaultGraceSeconds = 30;

export function createJob(
	pod: V1Pod,
	rest: Pick<EvictionJob, "context" | "timeout"> & {
		readonly node?: string;
		readonly deletes?: boolean;
		readonly deletions?: PodDeletions | undefined;
		readonly hold?: Hold | undefined;
		/** Whether no node could run the pod's replacement. */
		readonly strands?: boolean;
		readonly gracePeriodSeconds: number;
		/** The time on the run's clock before the pod was requested. */
		readonly readAt?: number;
	},
): EvictionJob {
	const { metadata = {}, spec } = pod;
	const { namespace = "", name = "", uid = "", resourceVersion = "", labels = {} } = metadata;
	const { context, node, hold, deletes = false, deletions, strands = false, gracePeriodSeconds, readAt } = rest;
	const timeout = hold ? { ...rest.timeout, signal: AbortSignal.any([rest.timeout.signal, hold.lost]) } : rest.timeout;
	return {
		context,
		pod: { namespace, name, uid },
		seen: seenPod({ resourceVersion, labels, hasNotStarted: hasNotStarted(pod) }, readAt),
		...(node !== undefined && { node }),
		timeout,
		deletes,
		staysAway: strands || !isReplaced(pod),
		graceSeconds:
			gracePeriodSeconds >= 0 ? gracePeriodSeconds : (spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds),
		...(deletions && { deletions }),
		...(hold && { hold }),
		attempts: 0,
		isTold: false,
	};
}

export function podEvent({ context, pod, node }: EvictionJob): PodEvent {
	const { namespace, name, uid } = pod;
	return { context: context.name, namespace, pod: name, uid, ...(node !== undefined && { node }) };
}

/**
 * Creates a timeout of `ms` milliseconds. 0 means no timeout, and a negative one has already expired. The timer does not keep the process
 * alive.
 */
export function createTimeout(ms: number, text: string): Timeout {
	if (ms < 0) return { signal: AbortSignal.abort(new Error("timed out")), text };
	return { signal: ms > 0 ? AbortSignal.timeout(timerMs(ms)) : new AbortController().signal, text };
}
