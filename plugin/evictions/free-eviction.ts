// A pod without a grant: kubectl's own eviction, one try at a time. Its uid is named, so that a try that comes late never hits the
// pod that replaced it; and where its labels matter, the version that was judged. Nothing is sent after a pause, a stop or the
// pod's timeout, however long what came before took.
import { seeAnew } from "../../disruption/round/seen-pod.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { Places } from "../../disruption/round/places.ts";
import type { EventSink } from "../events/events.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { hasNotStarted, isFinished } from "../kubernetes/pod-status.ts";
import { type EvictionJob, podEvent } from "./eviction-job.ts";
import { type EvictionOptions, type PodReading, readPod, requestEviction } from "./send-eviction.ts";
import { type EvictionStep, retryLater } from "./eviction-step.ts";
import { failedPod } from "./pod-outcome.ts";

export interface FreeEvictionDependencies {
	readonly options: EvictionOptions;
	readonly emit: EventSink;
	readonly runtime: Pick<RoundRuntime, "now">;
	readonly places: Pick<Places, "isPaused">;
	readonly stop: AbortSignal;
}

/** On what condition a pod may be evicted without a grant; empty if there is none. */
export interface FreeToGo {
	/** The only version that may be evicted. */
	readonly resourceVersion?: string;
	/** Whether it may still be evicted: called right before the request is written. */
	readonly guard?: () => boolean;
}

/** Sooner no etcd has come back from a backup, in which the version that was read may be one of a pod that is up. */
const goodForMs = 10_000;

/**
 * A pod that nothing can make healthy again, unless etcd is restored from a backup in which it is alive, or one that has not
 * started, which is not healthy yet. It may have waited for its turn: it is read again, and the eviction names the version that
 * was read, a moment ago. Rejects as sendFreely() does.
 */
export async function evictFree(job: EvictionJob, deps: FreeEvictionDependencies): Promise<EvictionStep> {
	const found = await seeAnew(
		job,
		() => readPod(job.context.client, job.pod),
		() => deps.runtime.now(),
	);
	if (found.kind === "gone") return { kind: "gone" };
	const answeredAt = deps.runtime.now();
	const guard = (): boolean => deps.runtime.now() - answeredAt <= goodForMs;
	return found.kind === "terminating" || isFinished(found.pod) || hasNotStarted(found.pod)
		? sendFreely(job, { resourceVersion: job.seen.resourceVersion, guard }, deps)
		: { kind: "again", afterMs: 0 };
}

/**
 * A dry run is not tried again: nothing would change, and kubectl hangs there. Rejects with ApiError or ConnectionError where the
 * pod could not be read after its eviction was answered.
 */
export async function sendFreely(
	job: EvictionJob,
	free: FreeToGo,
	{ options, emit, runtime, places, stop }: FreeEvictionDependencies,
): Promise<EvictionStep> {
	const { client } = job.context;
	const { uid } = job.pod;
	const read = (): Promise<PodReading> => readPod(client, job.pod);
	await job.hold?.confirm(AbortSignal.any([stop, job.timeout.signal]));
	if (job.hold?.lost.aborted) return { kind: "stopped" };
	if (!job.isTold) {
		job.attempts += 1;
		emit({
			type: "pod.evicting",
			...podEvent(job),
			dryRun: options.dryRun ? "server" : "none",
			deletes: options.deletes,
			budgets: [],
			attempt: job.attempts,
		});
	}
	const mayBeSent = (): boolean => !places.isPaused && !stop.aborted && !job.timeout.signal.aborted;
	const guard = (): boolean => mayBeSent() && (free.guard?.() ?? true);
	const preconditions = {
		uid,
		...(free.resourceVersion !== undefined && { resourceVersion: free.resourceVersion }),
	};
	const answer = await requestEviction(client, job.pod, options, { preconditions, guard });
	switch (answer.kind) {
		case "accepted":
			return answer;
		case "notSent":
			return { kind: "again", afterMs: 0, isSameTry: true };
		case "gone":
		case "conflict": {
			// A 409 may be another uid, another version, or a write of somebody else in the same moment.
			const found = await seeAnew(job, read, () => runtime.now());
			const isGone = found.kind === "gone" || answer.kind === "gone";
			return isGone ? { kind: "gone" } : { kind: "again", afterMs: 0, isSameTry: true };
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
	if (found.kind === "gone") return { kind: "gone" };
	if (found.kind === "terminating" && kind !== "blocked") return { kind: "accepted" };
	return retryLater(job, { reason, message, inTerminatingNamespace: kind === "namespaceTerminating" }, emit);
}
