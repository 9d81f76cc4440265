// Defines what `explain` finds out about a pod, a budget or a node, and judges several findings together.
import type { UsedBy } from "../../events/events.ts";
import type { Reason } from "../../events/reason.ts";
import type { BudgetRow } from "../../fleet/budget-table.ts";
import { type ExitCode, exitCode } from "../../terminal/exit.ts";
import type { PlanNeverReason, PlanWaitReason } from "../plan.ts";
import type { HeldLease } from "./read-held-leases.ts";

/** Best first. Follows: the pod can be evicted when the pods of its node that come before it are back. Only MayGo is a yes. */
export const verdicts = ["MayGo", "Follows", "Waits", "Unknown", "Refused"] as const;

export type Verdict = (typeof verdicts)[number];

/** One thing that blocks a pod. */
export interface Finding {
	/** Refused: a person has to act. Unknown: a required answer is missing or cannot be used, which allows nothing. */
	readonly verdict: Exclude<Verdict, "MayGo" | "Follows">;
	readonly reason: Reason | PlanNeverReason | PlanWaitReason;
	readonly message: string;
	/** One of our budgets, as NAMESPACE/NAME. */
	readonly budget?: string;
	/** Names of the members that the finding concerns. A command that shows more about it is sent to one of them. Left out: any member. */
	readonly clusters?: readonly string[];
	readonly usedBy: readonly UsedBy[];
}

/** Whether a drain of the pod's node would evict it, with the given flags. */
export interface DrainFilter {
	readonly kind: "takes" | "leaves" | "refuses";
	/** Why it would not. A refusal is in kubectl's words. */
	readonly message: string;
}

export interface ExplainedPod {
	readonly context: string;
	readonly namespace: string;
	readonly pod: string;
	readonly uid: string;
	/** "" if the pod has no node yet. */
	readonly node: string;
	/** For example "StatefulSet/db". "" if there is none. */
	readonly owner: string;
	/** The STATUS of kubectl get pods. */
	readonly state: string;
	readonly verdict: Verdict;
	/** Whether the pod is terminating and should be gone by now. */
	readonly isOverdue: boolean;
	/** What to say about a pod that can be evicted, or how it terminates. */
	readonly message: string;
	/** Worst first. Empty for a pod that can be evicted now or after others of its node. */
	readonly findings: readonly Finding[];
	/** Names of all budgets that cover it, as far as known. */
	readonly budgets: readonly string[];
	readonly drain: DrainFilter;
}

export interface Subject {
	readonly kind: "Pod" | "Budget" | "Node";
	/** Left out for a budget, which is the same in all clusters. */
	readonly context?: string;
	/** Left out for a node. */
	readonly namespace?: string;
	readonly name: string;
}

export interface Explanation {
	readonly subject: Subject;
	readonly verdict: Verdict;
	readonly findings: readonly Finding[];
	/** The pod, or all pods of the node: worst first. */
	readonly pods: readonly ExplainedPod[];
	/** The budgets that cover the pods, or the budget itself. */
	readonly budgets: readonly BudgetRow[];
	/** Leases of these budgets that currently have a holder or waiting rounds. */
	readonly leases: readonly HeldLease[];
	/** For example, who drains the node. */
	readonly notes: readonly string[];
	/** Members of the fleet that gave no answer. */
	readonly problems: readonly string[];
	/** Names of the fleet's members. */
	readonly clusters: readonly string[];
	/** Names of the members that answered. */
	readonly answering: readonly string[];
	/** The contexts that lead to members, by the member's name. */
	readonly contexts: ReadonlyMap<string, string>;
}

export function worstFirst<T extends { readonly verdict: Verdict }>(each: readonly T[]): readonly T[] {
	return each.toSorted((a, b) => verdicts.indexOf(b.verdict) - verdicts.indexOf(a.verdict));
}

/** Returns the worst verdict. Without any, the answer is a yes. */
export function worstOf(each: readonly { readonly verdict: Verdict }[]): Verdict {
	return worstFirst(each)[0]?.verdict ?? "MayGo";
}

export function exitCodeOf(verdict: Verdict): ExitCode {
	switch (verdict) {
		case "MayGo":
			return exitCode.done;
		case "Follows":
		case "Waits":
			return exitCode.notNow;
		case "Unknown":
			return exitCode.failedClosed;
		case "Refused":
			return exitCode.neverPossible;
	}
}
