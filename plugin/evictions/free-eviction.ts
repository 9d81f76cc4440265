// Evicts a pod without a grant, as kubectl does, one try at a time. The request names the pod's uid, so a late try never hits the pod that
// replaced it. If the decision depends on a version, the request names that version too.
import { seeAnew } from "../../disruption/round/seen-pod.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { Places } from "../../disruption/round/places.ts";
import type { EventSink } from "../events/events.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { hasNotStarted, isFinished } from "../kubernetes/pod-status.ts";
import type { EvictionJob } from "./eviction-job.ts";
import { type EvictionOptions, podReader, requestEviction, tellEvicting } from "./send-eviction.ts";
import { type EvictionStep, retryLater } from "./eviction-step.ts";
import { mayBeSent } from "./may-be-sent.ts";
import { failedPod } from "./pod-outcome.ts";

export interface FreeEvictionDependencies {
	readonly options: EvictionOptions;
	readonly emit: EventSink;
	readonly runtime: Pick<RoundRuntime, "now">;
	readonly places: Pick<Places, "isPaused">;
	readonly stop: AbortSignal;
}

/** The conditions under which a pod may be evicted without a grant. Empty if there are none. */
export interface FreeToGo {
	/** The only version that may be evicted. */
	readonly resourceVersion?: string;
	/** Whether the pod may still be evicted. Called right before the request is written. */
	readonly guard?: () => boolean;
}

/** Shorter than any restore of etcd from a backup. After a restore, the version that was read can belong to a healthy pod. */
const goodForMs = 10_000;

/**
 * Reads the pod again, and evicts it without a grant if the version that was read has not started, is terminating or has finished.
 * Otherwise the caller tries the pod again. A pod that has not started is not healthy yet. A terminating or finished pod becomes healthy
 * again only if etcd is restored from a backup. Rejects with ApiError or ConnectionError if the pod cannot be read.
 */
export async function evictFree(job: EvictionJob, deps: FreeEvictionDependencies): Promise<EvictionStep> {
	const found = await seeAnew(job, podReader(job), () => deps.runtime.now());
	if (!found) return { kind: "gone" };
	const answeredAt = deps.runtime.now();
	const guard = (): boolean => deps.runtime.now() - answeredAt <= goodForMs;
	return found.isTerminating || isFinished(found.pod) || hasNotStarted(found.pod)
		? sendFreely(job, { resourceVersion: job.seen.resourceVersion, guard }, deps)
		: { kind: "again", afterMs: 0 };
}

/**
 * Sends one eviction without a grant. A dry run that is refused or gets no answer is not repeated, because nothing would change. Rejects
 * with ApiError or ConnectionError if the pod has to be read afterwards and cannot be.
 */
export async function sendFreely(
	job: EvictionJob,
	free: FreeToGo,
	{ options, emit, runtime, places, stop }: FreeEvictionDependencies,
): Promise<EvictionStep> {
	const { client } = job.context;
	const { uid } = job.pod;
	const read = podReader(job);
	await job.hold?.confirm(AbortSignal.any([stop, job.timeout.signal]));
	if (job.hold?.lost.aborted) return { kind: "stopped" };
	if (!job.isTold) tellEvicting(job, options, [], emit);
	const guard = (): boolean => mayBeSent(job, places, stop) && (free.guard?.() ?? true);
	const preconditions = {
		uid,
		...(free.resourceVersion !== undefined && { resourceVersion: free.resourceVersion }),
	};
	const answer = await requestEviction(client, job.pod, options, { preconditions, guard });
	switch (answer.kind) {
		case "accepted":
		case "gone":
			return answer;
		case "notSent":
			return { kind: "again", afterMs: 0, isSameTry: true };
		case "conflict": {
			// A 409 may mean another uid, another version, or a concurrent write by another client.
			const found = await seeAnew(job, read, () => runtime.now());
			return found ? { kind: "again", afterMs: 0, isSameTry: true } : { kind: "gone" };
		}
		case "unknown":
		case "refused":
			break;
	}
	const { kind, reason, message } =
		answer.kind === "refused"
			? answer.refusal
			: { kind: answer.kind, reason: "ServerUnreachable" as const, message: errorText(answer.error) };
	if (kind === "denied" || options.dryRun) return failedPod(job, { reason, message });
	const found = await seeAnew(job, read, () => runtime.now());
	if (!found) return { kind: "gone" };
	if (found.isTerminating && kind !== "blocked") return { kind: "accepted" };
	return retryLater(job, { reason, message, inTerminatingNamespace: kind === "namespaceTerminating" }, emit);
}
