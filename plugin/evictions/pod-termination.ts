// Waits until an evicted pod is gone. It compares uids, as kubectl does.
import { once } from "node:events";
import type { V1Pod } from "@kubernetes/client-node";
import type { EventSink } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import { ApiError, errorText, isPassing, refusalReason } from "../kubernetes/api-error.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";
import { readPod } from "./send-eviction.ts";
import type { FailedPod, PodOutcome } from "./pod-outcome.ts";

export interface TerminationOptions {
	/** If above 0, pods whose deletionTimestamp is older than this are not waited for. */
	readonly skipAfterSeconds: number;
	readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
	readonly wallClock: () => number;
	readonly emit: EventSink;
	/** Called when the pod is gone and was not skipped. */
	readonly onGone: () => void;
}

/**
 * Whether the pod's deletionTimestamp is more than `seconds` old, in whole seconds, as kubectl computes it for
 * --skip-wait-for-delete-timeout. False if `seconds` is 0 or less. `now`: milliseconds since the epoch.
 */
export function isTerminatingForLonger({ metadata }: V1Pod, seconds: number, now: number): boolean {
	const deletedAt = Date.parse(String(metadata?.deletionTimestamp ?? ""));
	return seconds > 0 && Math.trunc((now - deletedAt) / 1_000) > seconds;
}

/** kubectl polls once a second. The first polls come sooner, because a pod without a grace period is gone sooner. */
const pollMs = 1_000;
const firstPollMs = 100;

export async function waitUntilGone(
	job: EvictionJob,
	options: TerminationOptions,
): Promise<Extract<PodOutcome, { kind: "evicted" | "failed" | "stopped" }>> {
	const { pod, context, timeout } = job;
	// Whether to skip a pod depends on its deletionTimestamp, which has to be read.
	const watch = options.skipAfterSeconds > 0 ? undefined : job.deletions;
	const failed = (reason: Reason, why: string): FailedPod => ({
		kind: "failed",
		message: `error when waiting for pod "${pod.name}" in namespace "${pod.namespace}" to terminate: ${why}`,
		reason,
		unreachable: false,
	});
	const gone = (): PodOutcome & { readonly kind: "evicted" } => {
		options.onGone();
		return { kind: "evicted" };
	};
	if (watch?.live) {
		const ended = AbortSignal.any([timeout.signal, watch.news(pod)]);
		if (!ended.aborted) await once(ended, "abort");
	}
	if (watch?.isGone(pod.uid)) return gone();
	for (let pauseMs = firstPollMs; ; pauseMs = Math.min(pollMs, pauseMs * 2)) {
		try {
			const found = await readPod(context.client, pod);
			if (!found) return gone();
			if (isTerminatingForLonger(found.pod, options.skipAfterSeconds, options.wallClock())) {
				const message = `pod "${pod.name}" has DeletionTimestamp older than ${options.skipAfterSeconds} seconds, skipping`;
				options.emit({ type: "pod.skipped", ...podEvent(job), message });
				return { kind: "evicted" };
			}
		} catch (error) {
			// The pod continues to terminate whether we see it or not. Only a permanent error ends the wait.
			if (!isPassing(error)) {
				if (error instanceof ApiError) return failed(refusalReason(error), errorText(error));
				throw error;
			}
		}
		if (!timeout.signal.aborted) await options.sleep(pauseMs, timeout.signal);
		// If another run has taken the node, that run waits for the pod.
		if (job.hold?.lost.aborted) return { kind: "stopped" };
		if (timeout.signal.aborted) return failed("TimedOut", "context deadline exceeded");
	}
}
