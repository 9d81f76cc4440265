// What `explain` found out about a pod, a budget or a node. Types, and what they come to together.
import type { UsedBy } from "../../events/events.ts";
import type { Reason } from "../../events/reason.ts";
import type { BudgetRow } from "../../fleet/budget-table.ts";
import { type ExitCode, exitCode } from "../../terminal/exit.ts";
import type { PlanNeverReason, PlanWaitReason } from "../plan.ts";
import type { HeldLease } from "./read-held-leases.ts";

/** Best first. Follows: of a node's pods, once the ones before it are back. Only MayGo is a yes. */
export const verdicts = ["MayGo", "Follows", "Waits", "Unknown", "Refused"] as const;

export type Verdict = (typeof verdicts)[number];

/** One thing that keeps a pod. */
export interface Finding {
	/** Refused: somebody has to act. Unknown: whoever has to be asked gives no answer that can be gone by, which allows nothing. */
	readonly verdict: Exclude<Verdict, "MayGo" | "Follows">;
	readonly reason: Reason | PlanNeverReason | PlanWaitReason;
	readonly message: string;
	/** Of ours, as NAMESPACE/NAME. */
	readonly budget?: string;
	/** Names of the members that it is about: a command that shows it goes to one of these. Left out: any member. */
	readonly clusters?: readonly string[];
	readonly usedBy: readonly UsedBy[];
}

/** Whether a drain of its node would take the pod, with the flags that were given. */
export interface DrainFilter {
	readonly kind: "takes" | "leaves" | "refuses";
	/** Why it does not, in kubectl's words. */
	readonly message: string;
}

export interface ExplainedPod {
	readonly context: string;
	readonly namespace: string;
	readonly pod: string;
	readonly uid: string;
	/** "" where no node has it yet. */
	readonly node: string;
	/** "StatefulSet/db", or "". */
	readonly owner: string;
	/** As kubectl get pods has it in STATUS. */
	readonly state: string;
	readonly verdict: Verdict;
	/** It terminates, and should be gone by now. */
	readonly isOverdue: boolean;
	/** What there is to say of a pod that may go, or how it goes. */
	readonly message: string;
	/** Worst first; none of a pod that may go. */
	readonly findings: readonly Finding[];
	/** Names of all budgets that cover it, as far as they are known. */
	readonly budgets: readonly string[];
	readonly drain: DrainFilter;
}

export interface Subject {
	readonly kind: "Pod" | "Budget" | "Node";
	/** None of a budget: it is the same in all clusters. */
	readonly context?: string;
	/** None of a node. */
	readonly namespace?: string;
	readonly name: string;
}

export interface Explanation {
	readonly subject: Subject;
	readonly verdict: Verdict;
	readonly findings: readonly Finding[];
	/** The pod, or all of the node: worst first. */
	readonly pods: readonly ExplainedPod[];
	/** Those that cover the pods, or the budget itself. */
	readonly budgets: readonly BudgetRow[];
	/** Of these budgets: those that are held or waited for at this moment. */
	readonly leases: readonly HeldLease[];
	/** Who drains the node, and the like. */
	readonly notes: readonly string[];
	/** Members of the fleet that gave no answer. */
	readonly problems: readonly string[];
	/** Names of the fleet's members. */
	readonly clusters: readonly string[];
	/** Names of those that gave an answer. */
	readonly answering: readonly string[];
	/** The contexts that lead to them, by the member's name. */
	readonly contexts: ReadonlyMap<string, string>;
}

export function worstFirst<T extends { readonly verdict: Verdict }>(each: readonly T[]): readonly T[] {
	return each.toSorted((a, b) => verdicts.indexOf(b.verdict) - verdicts.indexOf(a.verdict));
}

/** Nothing to keep anything is a yes. */
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
