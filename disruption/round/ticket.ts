// The result of a round for a granted pod. Types only: eviction.ts uses them.
import type { BudgetName } from "../budget/budget.ts";
import type { PodReference } from "../budget/cluster.ts";
import type { Free, Refused, RoundCandidate, Waiting } from "../budget/verdict.ts";

/** The right to evict one pod: its reservation stands in the Leases of all its budgets. */
export interface Ticket {
	readonly clusterId: string;
	readonly pod: PodReference;
	/** The reservation's id. Never shown: with it, anyone can use this grant. */
	readonly id: string;
	readonly budgets: readonly BudgetName[];
	/** The members' reports of each of these budgets when it was counted (see budget-terms.ts). */
	readonly terms: readonly string[];
	readonly resourceVersion: string;
	/** How often the pod changes, if something keeps changing it. */
	readonly changesEveryMs?: number;
	/** The pod's labels as they were counted: with other labels, other budgets may cover it. */
	readonly labels: Readonly<Record<string, string>>;
	/** When the oldest of the counts behind this ticket was requested, on the runtime's clock. */
	readonly countedAt: number;
}

export interface Granted {
	readonly kind: "granted";
	readonly ticket: Ticket;
}

/** The answer of a round for each requested pod. */
export type Verdict = { readonly candidate: RoundCandidate } & (Granted | Free | Waiting | Refused);
