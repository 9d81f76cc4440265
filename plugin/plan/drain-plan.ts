// What a drain is planned from, and what comes out. Types only.
import type { CandidateState } from "../../disruption/budget/cluster.ts";
import type { BudgetCounts } from "../../disruption/budget/allowance.ts";
import type { RefusalReason, RoundCandidate, Waiting } from "../../disruption/budget/verdict.ts";

/** A budget as it is counted now. */
export interface PlanBudget {
	/** Unique in the plan. */
	readonly key: string;
	/** The clusters that it holds over. */
	readonly memberIds: readonly string[];
	/** For people: "maxUnavailable 1". */
	readonly bound: string;
	/** What the counts say of candidates is not looked at: each pod brings its own states. */
	readonly counted: BudgetCounts;
}

/** A pod that a drain would take. */
export interface PlanPod {
	readonly candidate: RoundCandidate;
	/** By the key of each budget that covers it, what that budget's count says of it. */
	readonly states: ReadonlyMap<string, CandidateState>;
	/** Whether somebody makes another pod in its place. */
	readonly replaced: boolean;
	/** No node would take that one: for now, or as things are for ever. Until one does, its budgets count it as down. */
	readonly strands?: "for now" | "for ever";
}

/** A node: groups of pods that go one after the other, each when the one before it is gone. */
export interface PlanNode {
	readonly name: string;
	readonly groups: readonly (readonly PlanPod[])[];
}

/** Nodes that are drained one after the other, `atOnce` of them at a time. Queues go side by side. */
export interface PlanQueue {
	readonly nodes: readonly PlanNode[];
	readonly atOnce: number;
}

/** How long a pod takes, in whatever unit: until it is gone, and from then until its replacement is healthy. */
export interface PodPace {
	readonly goneAfter: number;
	readonly backAfter: number;
}

/** What a pod waits for before it may go. */
export type PlanWait =
	/** A node of its own queue that is drained before. */
	| { readonly kind: "node"; readonly name: string }
	/** The pods of its node that go before it. */
	| { readonly kind: "group"; readonly pods: readonly RoundCandidate[] }
	/** A budget that is used up, until these pods of the same drain are back. */
	| {
			readonly kind: "budget";
			readonly key: string;
			readonly message: string;
			readonly pods: readonly RoundCandidate[];
	  }
	/** Something that this drain has no part in: nobody knows how long. */
	| { readonly kind: "others"; readonly waiting: Waiting };

/** Why a pod can never go as things are: what refuses it, or that its budget needs every pod that could be healthy. */
export interface NeverPlanned {
	readonly reason: RefusalReason | "BudgetNeverMet" | "BudgetStaysUsedUp";
	readonly message: string;
}

/** What becomes of one pod. */
export type PlannedPod = { readonly pod: PlanPod; readonly node: string } & (
	| { readonly kind: "goes"; readonly at: number; readonly goneAt: number; readonly waits: readonly PlanWait[] }
	| { readonly kind: "never"; readonly never: NeverPlanned }
);

/** A drain from its first pod to its last. */
export interface SimulatedDrain {
	/** In the order in which they go; those that never go at the end. */
	readonly pods: readonly PlannedPod[];
	/** When the last pod is gone. */
	readonly endsAt: number;
}
