// A granted pod: the eviction under its reservation, until its answer is known or nobody can know it.
import type { V1Pod } from "@kubernetes/client-node";
import type { Cluster, PodReference } from "../../disruption/cluster.ts";
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	GarbledLeaseError,
} from "../../disruption/errors.ts";
import {
	cancelTicket,
	carryOut,
	type EvictionAnswer,
	type EvictionOutcome,
	type Evictor,
	type FoundPod,
	type Ticket,
} from "../../disruption/eviction.ts";
import { preActivitiesOf } from "../../disruption/pod.ts";
import type { RoundRuntime } from "../../disruption/round-runtime.ts";
import type { EventSink } from "../events/events.ts";
import { refusalReason } from "../events/reason.ts";
import { ApiError, errorText, isPassing } from "../kubernetes/api-error.ts";
import { type EvictionJob, evictionError, podEvent, retryAfterMs, retryLine, type TryOutcome } from "./eviction-job.ts";
import { type EvictionOptions, type EvictionResponse, readPod, requestEviction } from "./eviction-request.ts";
import { waitingEvent } from "./waiting-event.ts";

/** What the API server said instead of taking the eviction. */
export type Refusal = Extract<EvictionResponse, { kind: "blocked" | "namespaceTerminating" | "denied" }>;

/** Makes the evictor of one ticket; a test build puts its fail points around it. */
export type EvictorMaker = (job: EvictionJob, budgets: readonly string[]) => Evictor<Refusal>;

export interface TicketDependencies {
	readonly cluster: Cluster;
	readonly evictor: Evictor<Refusal>;
	readonly runtime: RoundRuntime;
	readonly stop: AbortSignal;
	readonly emit: EventSink;
	readonly onUnavailable: (error: AgentUnavailableError) => void;
}

/** How long a confirmation that cannot be had now is waited for before it is asked for again. */
const askAgainAfterMs = 1_000;

/** Carries the ticket out. An agent or API server without an answer is asked again: the reservation stands all the while, as it does in a Lease that nobody can read. */
export async function evictWithTicket(job: EvictionJob, ticket: Ticket, deps: TicketDependencies): Promise<TryOutcome> {
	const { cluster, evictor, runtime, stop } = deps;
	for (;;) {
		let outcome: EvictionOutcome<Refusal>;
		try {
			outcome = await carryOut(ticket, cluster, evictor, runtime);
		} catch (error) {
			if (error instanceof AgentUnavailableError) {
				deps.onUnavailable(error);
			} else if (error instanceof GarbledLeaseError) {
				// Whether the reservation stands can be read again once somebody has repaired or deleted the Lease.
				deps.emit(waitingEvent(job, error, askAgainAfterMs));
			} else if (!isPassing(error)) {
				await cancelTicket(ticket, cluster, runtime, { sent: true });
				if (error instanceof AgentForbiddenError || error instanceof AgentProtocolError) {
					return { kind: "agentRefused", message: error.message };
				}
				if (!(error instanceof ApiError)) throw error;
				return {
					kind: "failed",
					message: evictionError(job, errorText(error)),
					reason: refusalReason(error),
					unreachable: false,
				};
			}
			if (stop.aborted || job.timeout.signal.aborted) {
				await cancelTicket(ticket, cluster, runtime, { sent: true });
				return stop.aborted
					? { kind: "stopped" }
					: {
							kind: "timedOut",
							waitedFor: errorText(error),
							reason: error instanceof GarbledLeaseError ? "GarbledLease" : "PeerUnreachable",
						};
			}
			await runtime.sleep(askAgainAfterMs, AbortSignal.any([stop, job.timeout.signal]));
			continue;
		}
		return settle(job, outcome, deps);
	}
}

async function settle(
	job: EvictionJob,
	outcome: EvictionOutcome<Refusal>,
	{ emit }: TicketDependencies,
): Promise<TryOutcome> {
	switch (outcome.kind) {
		case "evicted":
			return { kind: "accepted" };
		case "gone":
			return { kind: "gone" };
		case "lost":
			return { kind: "again", afterMs: 0 };
		case "unknown": {
			const message = retryLine(job, errorText(outcome.error), false);
			emit({ type: "pod.retrying", ...podEvent(job), reason: "ServerUnreachable", message, retryAfterMs });
			return { kind: "again", afterMs: retryAfterMs, reason: "ServerUnreachable" };
		}
		case "refused":
			break;
	}
	const { refusal } = outcome;
	if (refusal.kind === "denied") {
		return {
			kind: "failed",
			message: evictionError(job, refusal.message),
			reason: refusal.reason,
			unreachable: false,
		};
	}
	const terminating = refusal.kind === "namespaceTerminating";
	if (terminating && (await isTerminating(job))) return { kind: "accepted" };
	const { reason } = refusal;
	const message = retryLine(job, refusal.message, terminating);
	emit({ type: "pod.retrying", ...podEvent(job), reason, message, retryAfterMs });
	return { kind: "again", afterMs: retryAfterMs, reason };
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

export function presentPod({ metadata }: V1Pod): Extract<FoundPod, { kind: "present" }> {
	const { resourceVersion = "", labels = {}, annotations = {} } = metadata ?? {};
	return { kind: "present", resourceVersion, labels, preActivities: preActivitiesOf(annotations) };
}

/** The evictor that talks to the pod's API server. Says once that it evicts, however often the version has to be read anew. */
export function createEvictor(options: EvictionOptions, emit: EventSink): EvictorMaker {
	return (job, budgets) => {
		const { client } = job.context;
		let isTold = false;
		return {
			async evict(pod: PodReference, preconditions, reservationId): Promise<EvictionAnswer<Refusal>> {
				if (!isTold) {
					isTold = true;
					job.attempts += 1;
					emit({
						type: "pod.evicting",
						...podEvent(job),
						dryRun: "none",
						deletes: options.deletes,
						budgets,
						attempt: job.attempts,
					});
				}
				const response = await requestEviction(client, pod, options, preconditions, reservationId);
				switch (response.kind) {
					case "accepted":
						return { kind: "evicted" };
					case "gone":
					case "conflict":
					case "unknown":
						return response;
					case "blocked":
					case "namespaceTerminating":
					case "denied":
						return { kind: "refused", refusal: response };
				}
			},
			async read(pod) {
				const found = await readPod(client, pod);
				if (found.kind !== "present") return { kind: found.kind };
				return presentPod(found.pod);
			},
		};
	};
}
