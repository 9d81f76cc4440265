// A plan as -o json and -o yaml print it; schemas/plan-v1.json publishes it. `message` is for people and may change.
import { refusalReasons, waitReasons } from "../../disruption/budget/verdict.ts";

export const planSchema = "xpdb.plan/1.0";

/** What a pod may wait for. */
export const planWaitReasons = [
	// This drain itself ends it.
	/** Another node of its cluster is drained first. */
	"NodeBefore",
	/** Other pods of its node go first: --order-by, or it is an agent of ours. */
	"PodsBefore",
	// As a round says it; this drain ends it only where its own pods use a budget up.
	...waitReasons,
] as const;

/** Why a pod can never go as things are. */
export const planNeverReasons = [
	/** A drain with these flags does not touch it, nor anything else on its node. */
	"PodsNotAllowed",
	/** Pods that go before it use its budget up, and no node would take what replaces them. */
	"BudgetStaysUsedUp",
	/** Even with all expected pods healthy the budget leaves none to disrupt. */
	"BudgetNeverMet",
	...refusalReasons,
	// Kubernetes' own budgets.
	"DisruptionBudget",
	"MultipleBudgets",
] as const;

export type PlanWaitReason = (typeof planWaitReasons)[number];
export type PlanNeverReason = (typeof planNeverReasons)[number];

export interface PodName {
	readonly context: string;
	readonly namespace: string;
	readonly pod: string;
}

export interface PlannedWait {
	readonly reason: PlanWaitReason;
	readonly message: string;
	/** Whether this drain itself ends the wait; else nobody knows how long it takes. */
	readonly own: boolean;
	readonly budget?: string;
	readonly node?: string;
	/** The pods that it waits for, at most 20 of them. */
	readonly pods?: readonly PodName[];
	/** How many they are. */
	readonly podCount?: number;
}

export interface PlanEntry extends PodName {
	readonly uid: string;
	readonly node: string;
	/** What made it, or its own name. */
	readonly owner: string;
	/** From 1: the pods of a wave may go at once when those of the wave before are back. */
	readonly wave: number;
	/** Names of the budgets that cover it. */
	readonly budgets: readonly string[];
	readonly waits: readonly PlannedWait[];
	/** Where no node would take what replaces it, as things are. */
	readonly replacement?: { readonly reason: "NoOtherNode"; readonly message: string };
}

export interface ImpossiblePod extends PodName {
	readonly uid: string;
	readonly node: string;
	/** What made it, or its own name. */
	readonly owner: string;
	readonly reason: PlanNeverReason;
	readonly message: string;
}

export interface PlannedNode {
	readonly context: string;
	readonly node: string;
	/** Pods that go. */
	readonly pods: number;
	/** Pods that a drain leaves there: of DaemonSets, static ones. */
	readonly left: number;
	/** Pods that can never go. */
	readonly impossible: number;
	/** Nothing on it would be evicted, because pods on it are not allowed to go. */
	readonly refused: boolean;
	/** 0: nothing goes. */
	readonly firstWave: number;
	readonly lastWave: number;
}

export interface PlannedBudget {
	readonly kind: "XPodDisruptionBudget" | "PodDisruptionBudget";
	/** Of a PodDisruptionBudget, which holds in one cluster. */
	readonly context?: string;
	readonly namespace: string;
	readonly name: string;
	readonly bound: string;
	readonly suspended: boolean;
	/** null: not known. */
	readonly need: number | null;
	readonly healthy: number | null;
	readonly expected: number | null;
	readonly allowed: number | null;
	/** Pods of the plan that it covers. */
	readonly pods: number;
}

export interface Plan {
	readonly schema: typeof planSchema;
	readonly client: string;
	/** Whether every pod can go as things are. */
	readonly possible: boolean;
	readonly exitCode: 0 | 3;
	readonly waves: number;
	readonly seconds: {
		readonly atLeast: number;
		/** null: somebody else has to do something first. */
		readonly atMost: number | null;
		/** Pods whose start was measured on others of their template, and those where it is assumed. */
		readonly measuredPods: number;
		readonly assumedPods: number;
	};
	readonly nodes: readonly PlannedNode[];
	readonly budgets: readonly PlannedBudget[];
	readonly impossible: readonly ImpossiblePod[];
	/** In the order in which they go. */
	readonly pods: readonly PlanEntry[];
	readonly warnings: readonly string[];
}
