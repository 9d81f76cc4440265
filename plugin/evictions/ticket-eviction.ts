// A granted pod: the eviction under its reservation, until its answer is known or nobody can know it.
import type { Cluster } from "../../disruption/cluster.ts";
import {
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
	isAgentRefusal,
} from "../../disruption/errors.ts";
import { type CurrentBudgets, cancelTicket, carryOut, type Evictor, type Ticket } from "../../disruption/eviction.ts";
import type { RoundRuntime } from "../../disruption/round-runtime.ts";
import type { EventSink } from "../events/events.ts";
import { refusalReason } from "../events/reason.ts";
import { ApiError, errorText, isPassing } from "../kubernetes/api-error.ts";
import type { EvictionJob } from "./eviction-job.ts";
import { type Refusal, readPod } from "./eviction-request.ts";
import { failedPod } from "./pod-outcome.ts";
import { retryLater, type TryOutcome } from "./try-outcome.ts";
import { waitingEvent } from "./waiting-event.ts";

export interface TicketDependencies {
	readonly cluster: Cluster;
	readonly evictor: Evictor<Refusal>;
	readonly currentBudgets: CurrentBudgets;
	readonly runtime: RoundRuntime;
	readonly stop: AbortSignal;
	readonly emit: EventSink;
	readonly onUnavailable: (error: AgentUnavailableError) => void;
}

type CarriedOut = Awaited<ReturnType<typeof carryOut<Refusal>>>;

/** How long a confirmation that cannot be had now is waited for before it is asked for again. */
const askAgainAfterMs = 1_000;

/** Carries the ticket out. An agent or API server without an answer is asked again: the reservation stands all the while, as it does in a Lease that nobody can read. */
export async function evictWithTicket(job: EvictionJob, ticket: Ticket, deps: TicketDependencies): Promise<TryOutcome> {
	const { cluster, evictor, currentBudgets, runtime, stop } = deps;
	for (;;) {
		let answer: CarriedOut;
		if (job.hold?.lost.aborted) {
			await cancelTicket(ticket, cluster, runtime, { sent: true });
			return { kind: "timedOut" };
		}
		try {
			answer = await carryOut(ticket, cluster, evictor, currentBudgets, runtime);
		} catch (error) {
			if (error instanceof AgentUnavailableError) {
				deps.onUnavailable(error);
			} else if (error instanceof GarbledLeaseError) {
				// Whether the reservation stands can be read again once somebody has repaired or deleted the Lease.
				deps.emit(waitingEvent(job, error, askAgainAfterMs));
			} else if (!isPassing(error)) {
				await cancelTicket(ticket, cluster, runtime, { sent: true });
				if (isAgentRefusal(error)) {
					return { kind: "agentRefused", message: error.message };
				}
				// The fleet is asked again, and names the missing member.
				if (error instanceof FleetsDifferError) return { kind: "again", afterMs: 0, reason: error.reason };
				if (!(error instanceof ApiError)) throw error;
				return failedPod(job, { reason: refusalReason(error), message: errorText(error) });
			}
			if (stop.aborted || job.timeout.signal.aborted) {
				await cancelTicket(ticket, cluster, runtime, { sent: true });
				return stop.aborted
					? { kind: "stopped" }
					: {
							kind: "timedOut",
							waitedFor: { message: errorText(error) },
							reason: error instanceof GarbledLeaseError ? "GarbledLease" : "PeerUnreachable",
						};
			}
			const ends = AbortSignal.any([stop, job.timeout.signal]);
			await runtime.sleep(askAgainAfterMs, ends);
			await job.hold?.confirm(ends);
			continue;
		}
		return tryOutcome(job, answer, deps);
	}
}

async function tryOutcome(
	job: EvictionJob,
	answer: CarriedOut,
	{ emit }: Pick<TicketDependencies, "emit">,
): Promise<TryOutcome> {
	switch (answer.kind) {
		case "accepted":
		case "gone":
			return answer;
		case "conflict":
			return { kind: "again", afterMs: 0 };
		case "unknown":
			return retryLater(job, { reason: "ServerUnreachable", message: errorText(answer.error) }, emit);
		case "refused":
			break;
	}
	const { refusal } = answer;
	if (refusal.kind === "denied") return failedPod(job, refusal);
	const inTerminatingNamespace = refusal.kind === "namespaceTerminating";
	if (inTerminatingNamespace && (await isTerminating(job))) return { kind: "accepted" };
	return retryLater(job, { ...refusal, inTerminatingNamespace }, emit);
}

/** False also where it cannot be read now: the next try asks again. */
async function isTerminating({ context, pod }: EvictionJob): Promise<boolean> {
	try {
		return (await readPod(context.client, pod)).kind === "terminating";
	} catch (error) {
		if (isPassing(error)) return false;
		throw error;
	}
}
