// One pod to be evicted, from the question who covers it to its end.
import type { V1Pod } from "@kubernetes/client-node";
import { seenPod, type WatchedPod } from "../../disruption/round/seen-pod.ts";
import type { PodEvent } from "../events/events.ts";
import { timerMs } from "../flags/duration.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { PodDeletions } from "../kubernetes/pod-deletions.ts";
import { hasNotStarted, isReplaced } from "../kubernetes/pod-status.ts";

/** The time a job may take: of its node for a drain, of the command for an eviction. */
export interface Timeout {
	readonly signal: AbortSignal;
	/** As it was given, for kubectl's message. */
	readonly text: string;
}

/** What the run has to hold while it evicts the pod: its node. */
export interface Hold {
	/** Aborts once another run has it; the job's timeout signal aborts with it. */
	readonly lost: AbortSignal;
	/** Resolves when it was held a moment ago, or when it is lost, or when `ends` aborts. */
	confirm(ends: AbortSignal): Promise<void>;
}

export interface EvictionJob extends WatchedPod {
	readonly context: KubeContext;
	readonly node?: string;
	readonly timeout: Timeout;
	readonly hold?: Hold;
	/** DELETE instead of an eviction. */
	readonly deletes: boolean;
	/** Nothing healthy will ever be in its place: nobody makes another one, or no node would take that. Only a dry run asks. */
	readonly staysAway?: boolean;
	/** How long the pod may take to terminate. */
	readonly graceSeconds: number;
	/** Tells when it is gone, where its node is watched. */
	readonly deletions?: PodDeletions;
	attempts: number;
	/** The last thing told of it is that it is being evicted without a grant. */
	isTold: boolean;
}

/** Where a pod does not say how long it may take to terminate. */
const defaultGraceSeconds = 30;

export function createJob(
	pod: V1Pod,
	rest: Pick<EvictionJob, "context" | "timeout"> & {
		readonly node?: string;
		readonly deletes?: boolean;
		readonly deletions?: PodDeletions | undefined;
		readonly hold?: Hold | undefined;
		/** No node would take what replaces it. */
		readonly strands?: boolean;
		readonly gracePeriodSeconds: number;
		/** On the clock of the run, before the pod was asked for. */
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

/** A timeout of 0 never comes, one below is over already. The timer does not keep the process alive. */
export function createTimeout(ms: number, text: string): Timeout {
	if (ms < 0) return { signal: AbortSignal.abort(new Error("timed out")), text };
	return { signal: ms > 0 ? AbortSignal.timeout(timerMs(ms)) : new AbortController().signal, text };
}
