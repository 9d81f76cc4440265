// Defines a plan as -o json and -o yaml print it (plugin/output/schemas/plan-v1.json). `message` is for people and may change.
import { refusalReasons, waitReasons } from "../../disruption/budget/verdict.ts";

export const planSchema = "xpdb.plan/1.0";

export const planWaitReasons = [
	// This drain itself ends the next two waits.
	/** Another node of the same cluster is drained first. */
	"NodeBefore",
	/** Other pods of the same node are evicted first: because of --order-by, or because this pod is an agent. */
	"PodsBefore",
	// The reasons of a round. This drain ends such a wait only if its own pods use up the budget.
	...waitReasons,
] as const;

export const planNeverReasons = [
	/** A drain with these flags refuses the pod, so it evicts nothing from the node. */
	"PodsNotAllowed",
	/** Earlier pods of the drain use up the budget, and no node would accept their replacements. */
	"BudgetStaysUsedUp",
	/** Even with all expected pods healthy, the budget allows no disruption. */
	"BudgetNeverMet",
	...refusalReasons,
	// For PodDisruptionBudgets.
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
	/** Whether this drain itself ends the wait. Otherwise the duration is unknown. */
	readonly own: boolean;
	readonly budget?: string;
	readonly node?: string;
	/** The pods that are waited for, at most 20. */
	readonly pods?: readonly PodName[];
	/** The number of all pods that are waited for. */
	readonly podCount?: number;
}

export interface PlanEntry extends PodName {
	readonly uid: string;
	readonly node: string;
	/** The name of the controller, or else of the pod. */
	readonly owner: string;
	/** From 1. The pods of a wave can be evicted together when those of the previous wave are back. */
	readonly wave: number;
	/** NAMESPACE/NAME, with a suffix for a PodDisruptionBudget. */
	readonly budgets: readonly string[];
	readonly waits: readonly PlannedWait[];
	/** Set if no other node fits the replacement, not even one that accepts no pods at present. */
	readonly replacement?: { readonly reason: "NoOtherNode"; readonly message: string };
}

export interface ImpossiblePod extends PodName {
	readonly uid: string;
	readonly node: string;
	/** The name of the controller, or else of the pod. */
	readonly owner: string;
	readonly reason: PlanNeverReason;
	readonly message: string;
}

export interface PlannedNode {
	readonly context: string;
	readonly node: string;
	readonly pods: number;
	/** Pods that a drain skips: DaemonSet pods, static pods, and those that --skip-wait-for-delete-timeout skips. */
	readonly left: number;
	readonly impossible: number;
	/** Whether a drain refuses one of the pods, and so evicts nothing from the node. */
	readonly refused: boolean;
	/** 0: no pod is evicted. */
	readonly firstWave: number;
	readonly lastWave: number;
}

export interface PlannedBudget {
	readonly kind: "XPodDisruptionBudget" | "PodDisruptionBudget";
	/** Left out for a budget of the fleet. */
	readonly context?: string;
	readonly namespace: string;
	readonly name: string;
	readonly bound: string;
	readonly suspended: boolean;
	/** null: unknown. */
	readonly need: number | null;
	readonly healthy: number | null;
	readonly expected: number | null;
	readonly allowed: number | null;
	/** How many pods of the plan the budget covers. */
	readonly pods: number;
}

export interface Plan {
	readonly schema: typeof planSchema;
	readonly client: string;
	readonly possible: boolean;
	readonly exitCode: 0 | 3 | 4;
	readonly waves: number;
	readonly seconds: {
		readonly atLeast: number;
		/** null: unknown, because a pod waits for something outside this drain. */
		readonly atMost: number | null;
		/** Pods that get no replacement, or whose start time was measured on pods of the same template. */
		readonly measuredPods: number;
		readonly assumedPods: number;
	};
	readonly nodes: readonly PlannedNode[];
	readonly budgets: readonly PlannedBudget[];
	readonly impossible: readonly ImpossiblePod[];
	readonly pods: readonly PlanEntry[];
	readonly warnings: readonly string[];
}
