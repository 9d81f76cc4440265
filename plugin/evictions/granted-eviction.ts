// Evicts a granted pod under its reservation, and decides what follows from the API server's answer, or from a missing answer.
import { askAgainAfterMs, classifyFailure } from "../../disruption/budget/classify-failure.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { type CurrentBudgets, cancelTicket, evictUnderTicket, type Evictor } from "../../disruption/round/eviction.ts";
import type { Grant } from "../../disruption/round/grant.ts";
import type { Places } from "../../disruption/round/places.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { EventSink } from "../events/events.ts";
import type { Reachability } from "../fleet/reachability.ts";
import { errorText, isPassing } from "../kubernetes/api-error.ts";
import type { EvictionJob } from "./eviction-job.ts";
import { type Refusal, readPod } from "./send-eviction.ts";
import { type EvictionStep, retryLater, stepAfter } from "./eviction-step.ts";
import { mayBeSent } from "./may-be-sent.ts";
import { failedPod } from "./pod-outcome.ts";
import { waitingEvent } from "./waiting-event.ts";

export interface GrantedEvictionDependencies {
	readonly currentBudgets: CurrentBudgets;
	readonly runtime: RoundRuntime;
	readonly reachability: Pick<Reachability, "failed">;
	readonly places: Pick<Places, "isPaused">;
	readonly stop: AbortSignal;
	readonly emit: EventSink;
}

/**
 * Evicts under the grant. If an agent or the API server gives no answer, it is asked again. The reservation stands meanwhile, even if its
 * Lease cannot be read. If an error, a stop, a timeout or the loss of the node ends the tries, an eviction may have been sent. So the
 * reservation is cancelled by the fence.
 */
export async function evictGranted(
	job: EvictionJob,
	{ ticket, member }: Pick<Grant, "ticket" | "member">,
	evictor: Evictor<Refusal>,
	{ currentBudgets, runtime, reachability, places, stop, emit }: GrantedEvictionDependencies,
): Promise<EvictionStep> {
	const ends = AbortSignal.any([stop, job.timeout.signal]);
	const held: Evictor<Refusal> = { ...evictor, mayBeSent: () => mayBeSent(job, places, stop) };
	for (;;) {
		if (job.hold?.lost.aborted) {
			await cancelTicket(ticket, member, runtime, { sent: true });
			return { kind: "over" };
		}
		try {
			const answer = await evictUnderTicket(ticket, member, held, currentBudgets, runtime);
			switch (answer.kind) {
				case "accepted":
				case "gone":
					return answer;
				case "conflict":
					return { kind: "again", afterMs: 0 };
				case "unknown":
					return retryLater(job, { reason: "ServerUnreachable", message: errorText(answer.error) }, emit);
				case "refused":
					return await refused(job, answer.refusal, emit);
			}
		} catch (error) {
			const failure = classifyFailure(error);
			if (error instanceof AgentUnavailableError) reachability.failed(error);
			// A person must repair or delete the Lease before the reservation can be read again.
			if (failure?.reason === "GarbledLease") emit(waitingEvent(job, failure, askAgainAfterMs));
			const isOver = failure?.kind !== "retry" || failure.reason === "FleetsDiffer";
			if (isOver || ends.aborted) {
				await cancelTicket(ticket, member, runtime, { sent: true });
				if (!failure) throw error;
				// After FleetsDiffer, the caller asks the fleet again, and the answer names the missing member.
				if (isOver) return stepAfter(job, failure);
				const reason = failure.reason === "GarbledLease" ? "GarbledLease" : "PeerUnreachable";
				return { kind: "over", last: { reason, message: failure.message } };
			}
			await runtime.sleep(askAgainAfterMs, ends);
			await job.hold?.confirm(ends);
		}
	}
}

async function refused(job: EvictionJob, refusal: Refusal, emit: EventSink): Promise<EvictionStep> {
	if (refusal.kind === "denied") return failedPod(job, refusal);
	const inTerminatingNamespace = refusal.kind === "namespaceTerminating";
	if (inTerminatingNamespace && (await isTerminating(job))) return { kind: "accepted" };
	return retryLater(job, { ...refusal, inTerminatingNamespace }, emit);
}

/** False if the pod cannot be read now, because the caller then tries again. */
async function isTerminating({ context, pod }: EvictionJob): Promise<boolean> {
	try {
		return (await readPod(context.client, pod))?.isTerminating === true;
	} catch (error) {
		if (isPassing(error)) return false;
		throw error;
	}
}
