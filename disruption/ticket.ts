// What a round hands out for a pod that it granted. Types only: who carries it out is in eviction.ts.
import type { BudgetName } from "./budget.ts";
import type { PodReference } from "./cluster.ts";

/** The right to evict one pod: its reservation stands in the Leases of all its budgets. */
export interface Ticket {
	readonly clusterId: string;
	readonly pod: PodReference;
	/** The reservation's id. Never shown: who names it may evict the pod. */
	readonly id: string;
	readonly budgets: readonly BudgetName[];
	/** What the members said of each of these when it was counted: see budget-terms.ts. */
	readonly terms: readonly string[];
	readonly resourceVersion: string;
	/** Of a pod that somebody keeps changing: how often. */
	readonly changesEveryMs?: number;
	/** The pod's labels as they were counted: with others it may be under other budgets. */
	readonly labels: Readonly<Record<string, string>>;
	/** On the clock of the runtime: when the oldest of the counts that it rests on was asked for. */
	readonly countedAt: number;
}
