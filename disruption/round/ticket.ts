// The ticket of a granted pod, the verdicts of a round, and the answers to an eviction. Types only: round.ts and eviction.ts have the code.
import type { BudgetName } from "../budget/budget.ts";
import type { PodReference } from "../budget/cluster.ts";
import type { RoundCandidate, Verdict } from "../budget/verdict.ts";

/** The right to evict one pod: its reservation stands in the Leases of all its budgets. */
export interface Ticket {
	readonly clusterId: string;
	readonly pod: PodReference;
	/** The reservation's id. It is secret: any caller that knows it can use this grant. */
	readonly id: string;
	readonly budgets: readonly BudgetName[];
	/** budgetTerms() of each of these budgets when it was counted, in the same order. */
	readonly terms: readonly string[];
	readonly resourceVersion: string;
	/** Milliseconds between two changes of the pod, if something keeps changing it. */
	readonly changesEveryMs?: number;
	/** The pod's labels as they were counted: with other labels, other budgets may cover it. */
	readonly labels: Readonly<Record<string, string>>;
	/** When the oldest of the counts behind this ticket was requested, on the runtime's clock. */
	readonly countedAt: number;
}

export type RoundVerdict = { readonly candidate: RoundCandidate } & Verdict<{
	readonly kind: "granted";
	readonly ticket: Ticket;
}>;

/**
 * The API server's answer to an eviction. evictUnderTicket() returns one answer for all requests that it sent under one ticket. `R` is the
 * part of a refusal that the caller keeps (status code, message).
 */
export type EvictionAnswer<R> =
	/** The API server accepted the eviction, or the pod was terminating already. The pod terminates in its own time. */
	| { readonly kind: "accepted" }
	| { readonly kind: "gone" }
	/**
	 * The pod has another uid or another version (409), so nothing has happened. From evictUnderTicket(): the pod is no longer the one that
	 * was granted, its reservation no longer stands, or no attempt was accepted. Request a new round.
	 */
	| { readonly kind: "conflict"; readonly message?: string }
	/** The guard returned false right before the request was written, so nothing was sent. evictUnderTicket() never returns this. */
	| { readonly kind: "notSent" }
	/** It is unknown whether the eviction took effect. The reservation stands until there is evidence, or until the fence ends it. */
	| { readonly kind: "unknown"; readonly error: unknown }
	| { readonly kind: "refused"; readonly refusal: R };
