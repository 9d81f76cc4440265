// Defines the input and output of a simulated drain. Types only.
import type { CandidateState } from "../../disruption/budget/cluster.ts";
import type { BudgetCounts } from "../../disruption/budget/allowance.ts";
import type { RefusalReason, RoundCandidate, Waiting } from "../../disruption/budget/verdict.ts";

export interface PlanBudget {
	readonly key: string;
	readonly memberIds: readonly string[];
	/** Whether this is a PodDisruptionBudget, which its cluster alone judges. */
	readonly isNative?: true;
	/** For example "maxUnavailable 1". */
	readonly bound: string;
	/** The simulation ignores its candidates, because each pod has its own `states`. */
	readonly counted: BudgetCounts;
}

export interface PlanPod {
	readonly candidate: RoundCandidate;
	/** The pod's state under each covering budget, by the budget's key. Empty for a pod that has not started. */
	readonly states: ReadonlyMap<string, CandidateState>;
	readonly replaced: boolean;
	/** Set if no node would accept the replacement, at present or ever. Until one does, the pod's budgets count it as down. */
	readonly strands?: "for now" | "for ever";
}

/** The groups are evicted in order. Each starts when the previous one is gone. */
export interface PlanNode {
	readonly name: string;
	readonly groups: readonly (readonly PlanPod[])[];
}

/** The nodes are drained in order, `atOnce` at a time. Queues are drained in parallel. */
export interface PlanQueue {
	readonly nodes: readonly PlanNode[];
	readonly atOnce: number;
}

/** In any unit. `backAfter`: from when the pod is gone until its replacement is healthy. */
export interface PodPace {
	readonly goneAfter: number;
	readonly backAfter: number;
}

export type PlanWait =
	/** A node of the same queue is drained first. */
	| { readonly kind: "node"; readonly name: string }
	/** Pods of the same node are evicted first. */
	| { readonly kind: "group"; readonly pods: readonly RoundCandidate[] }
	/** The budget is used up until these pods of the same drain are back. */
	| {
			readonly kind: "budget";
			readonly key: string;
			readonly message: string;
			readonly pods: readonly RoundCandidate[];
	  }
	/** Something outside this drain, for an unknown time. */
	| { readonly kind: "others"; readonly waiting: Waiting };

export interface NeverPlanned {
	readonly reason: RefusalReason | "BudgetNeverMet" | "BudgetStaysUsedUp";
	readonly message: string;
}

export type PlannedPod = { readonly pod: PlanPod; readonly node: string } & (
	| { readonly kind: "goes"; readonly at: number; readonly goneAt: number; readonly waits: readonly PlanWait[] }
	| { readonly kind: "never"; readonly never: NeverPlanned }
);

export interface SimulatedDrain {
	/** In the order of eviction. Pods that can never be evicted come last. */
	readonly pods: readonly PlannedPod[];
	readonly endsAt: number;
}
