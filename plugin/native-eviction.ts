// A pod without a budget of ours: kubectl's own eviction, one try at a time. Its uid is named, so that a try that comes
// late never hits the pod that replaced it.
import { ApiError, errorText, isPassing } from "./api-error.ts";
import { type EvictionJob, evictionError, podEvent, retryAfterMs, retryLine, type TryOutcome } from "./eviction-job.ts";
import { type EvictionOptions, readPod, requestEviction } from "./eviction-request.ts";
import type { EventSink } from "./events.ts";
import { refusalReason } from "./reason.ts";

/** A dry run is not tried again: nothing would change, and kubectl hangs there. */
export async function tryEviction(job: EvictionJob, options: EvictionOptions, emit: EventSink): Promise<TryOutcome> {
	try {
		return await tryOnce(job, options, emit);
	} catch (error) {
		// The pod could not be read after its eviction was answered.
		if (isPassing(error)) return { kind: "again", afterMs: retryAfterMs };
		if (!(error instanceof ApiError)) throw error;
		return {
			kind: "failed",
			message: evictionError(job, errorText(error)),
			reason: refusalReason(error),
			unreachable: false,
		};
	}
}

async function tryOnce(job: EvictionJob, options: EvictionOptions, emit: EventSink): Promise<TryOutcome> {
	const { client } = job.context;
	job.attempts += 1;
	emit({
		type: "pod.evicting",
		...podEvent(job),
		dryRun: options.dryRun ? "server" : "none",
		deletes: options.deletes,
		budgets: [],
		attempt: job.attempts,
	});
	const response = await requestEviction(client, job.pod, options, { uid: job.pod.uid });
	switch (response.kind) {
		case "accepted":
			return { kind: "accepted" };
		case "gone":
		case "conflict": {
			// A 409 may be another uid, or a write of somebody else in the same moment.
			const found = await readPod(client, job.pod);
			if (found.kind === "gone") return { kind: "gone" };
			return response.kind === "gone" ? { kind: "gone" } : { kind: "again", afterMs: 0 };
		}
		case "denied":
			return {
				kind: "failed",
				message: evictionError(job, response.message),
				reason: response.reason,
				unreachable: false,
			};
		case "unknown":
		case "blocked":
		case "namespaceTerminating":
			break;
	}
	const message = response.kind === "unknown" ? errorText(response.error) : response.message;
	const reason = response.kind === "unknown" ? "ServerUnreachable" : response.reason;
	if (options.dryRun) return { kind: "failed", message: evictionError(job, message), reason, unreachable: false };
	const found = await readPod(client, job.pod);
	if (found.kind === "gone") return { kind: "gone" };
	if (found.kind === "terminating" && response.kind !== "blocked") return { kind: "accepted" };
	job.labels = found.pod.metadata?.labels ?? {};
	const line = retryLine(job, message, response.kind === "namespaceTerminating");
	emit({ type: "pod.retrying", ...podEvent(job), reason, message: line, retryAfterMs });
	return { kind: "again", afterMs: retryAfterMs, reason };
}
