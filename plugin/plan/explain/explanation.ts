// Defines what `explain` reports about a pod, a budget or a node.
import type { UsedBy } from "../../events/events.ts";
import type { Reason } from "../../events/reason.ts";
import type { BudgetRow } from "../../fleet/budget-table.ts";
import { type ExitCode, exitCode } from "../../terminal/exit.ts";
import type { PlanNeverReason, PlanWaitReason } from "../plan.ts";
import type { HeldLease } from "./read-held-leases.ts";

/** Best first. Follows: the pod can be evicted when earlier pods of its node are back. Only MayGo allows an eviction. */
export const verdicts = ["MayGo", "Follows", "Waits", "Unknown", "Refused"] as const;

export type Verdict = (typeof verdicts)[number];

export interface Finding {
	/** Refused: someone has to act. Unknown: an answer is missing or unusable, so nothing is allowed. */
	readonly verdict: Exclude<Verdict, "MayGo" | "Follows">;
	readonly reason: Reason | PlanNeverReason | PlanWaitReason;
	readonly message: string;
	/** The NAMESPACE/NAME of one of our budgets. */
	readonly budget?: string;
	/** The members that the finding concerns. Left out if it concerns no particular member. */
	readonly clusters?: readonly string[];
	readonly usedBy: readonly UsedBy[];
}

/** Whether a drain of the pod's node, with the same flags, would evict the pod. */
export interface DrainFilter {
	readonly kind: "takes" | "leaves" | "refuses";
	/** Why not. A refusal is in kubectl's words. */
	readonly message: string;
}

export interface ExplainedPod {
	readonly context: string;
	readonly namespace: string;
	readonly pod: string;
	readonly uid: string;
	readonly node: string;
	/** For example "StatefulSet/db". "" without a controller. */
	readonly owner: string;
	/** The STATUS of kubectl get pods. */
	readonly state: string;
	readonly verdict: Verdict;
	/** Whether the pod should have terminated by now. */
	readonly isOverdue: boolean;
	readonly message: string;
	/** Worst first. */
	readonly findings: readonly Finding[];
	/** NAMESPACE/NAME of the known budgets that cover the pod. */
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
	/** Worst first. */
	readonly pods: readonly ExplainedPod[];
	readonly budgets: readonly BudgetRow[];
	/** Only Leases that have a holder or waiting rounds. */
	readonly leases: readonly HeldLease[];
	readonly notes: readonly string[];
	/** Why contexts or members gave no answer. */
	readonly problems: readonly string[];
	readonly clusters: readonly string[];
	readonly answering: readonly string[];
	/** Context names, by the name of the member that they lead to. */
	readonly contexts: ReadonlyMap<string, string>;
}

export function worstFirst<T extends { readonly verdict: Verdict }>(each: readonly T[]): readonly T[] {
	return each.toSorted((a, b) => verdicts.indexOf(b.verdict) - verdicts.indexOf(a.verdict));
}

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
