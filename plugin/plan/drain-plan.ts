// Defines the input and output of a simulated drain. Types only.
import type { CandidateState } from "../../disruption/budget/cluster.ts";
import type { BudgetCounts } from "../../disruption/budget/allowance.ts";
import type { RefusalReason, RoundCandidate, Waiting } from "../../disruption/budget/verdict.ts";

/** A budget with its current counts. */
export interface PlanBudget {
	/** Identifies the budget in the plan. */
	readonly key: string;
	/** The clusters that the budget applies to. */
	readonly memberIds: readonly string[];
	/** For messages, such as "maxUnavailable 1". */
	readonly bound: string;
	/** Its candidates are ignored, because each pod brings its own states. */
	readonly counted: BudgetCounts;
}

/** A pod that a drain would evict. */
export interface PlanPod {
	readonly candidate: RoundCandidate;
	/** The pod's state in the count of each budget that covers it, by the budget's key. */
	readonly states: ReadonlyMap<string, CandidateState>;
	/** Whether a controller creates another pod in its place. */
	readonly replaced: boolean;
	/**
	 * Set if no node would accept the replacement at present, or ever as things are. Until one does, the pod's budgets count it as down.
	 */
	readonly strands?: "for now" | "for ever";
}

/** A node with its pods in groups. Each group starts when the previous one is gone. */
export interface PlanNode {
	readonly name: string;
	readonly groups: readonly (readonly PlanPod[])[];
}

/** Nodes that are drained in order, `atOnce` of them at a time. Queues are drained in parallel. */
export interface PlanQueue {
	readonly nodes: readonly PlanNode[];
	readonly atOnce: number;
}

/** How long a pod takes, in any unit: until it is gone, and from then until its replacement is healthy. */
export interface PodPace {
	readonly goneAfter: number;
	readonly backAfter: number;
}

/** What a pod waits for before it can be evicted. */
export type PlanWait =
	/** A node of the same queue that is drained first. */
	| { readonly kind: "node"; readonly name: string }
	/** The pods of its node that are evicted first. */
	| { readonly kind: "group"; readonly pods: readonly RoundCandidate[] }
	/** A budget that is used up until these pods of the same drain are back. */
	| {
			readonly kind: "budget";
			readonly key: string;
			readonly message: string;
			readonly pods: readonly RoundCandidate[];
	  }
	/** Something outside this drain. The duration is unknown. */
	| { readonly kind: "others"; readonly waiting: Waiting };

/** Why a pod can never be evicted as things are. Either something refuses it, or its budget needs every pod that could be healthy. */
export interface NeverPlanned {
	readonly reason: RefusalReason | "BudgetNeverMet" | "BudgetStaysUsedUp";
	readonly message: string;
}

/** The outcome for one pod. */
export type PlannedPod = { readonly pod: PlanPod; readonly node: string } & (
	| { readonly kind: "goes"; readonly at: number; readonly goneAt: number; readonly waits: readonly PlanWait[] }
	| { readonly kind: "never"; readonly never: NeverPlanned }
);

/** A drain from its first pod to its last. */
export interface SimulatedDrain {
	/** In the order of their eviction. Pods that can never be evicted come last. */
	readonly pods: readonly PlannedPod[];
	/** When the last pod is gone. */
	readonly endsAt: number;
}
