// Defines the events of a run, for plain lines, -o json, the screen, the report and tests. plugin/output/schemas/ publishes the form of -o
// json. `message` is for people.
import type { BudgetState } from "../../disruption/budget/allowance.ts";
import type { Silent } from "../../disruption/errors.ts";
import type { Suspension } from "../../disruption/budget/suspension.ts";
import type { DryRun } from "../flags/dry-run.ts";
import type { Reason } from "./reason.ts";

/** `context` is "" for a cluster that no kubeconfig names. */
interface InContext {
	readonly context: string;
}

export interface PodEvent extends InContext {
	readonly namespace: string;
	readonly pod: string;
	readonly uid?: string;
	/** The drained node. Left out in a run of evict. */
	readonly node?: string;
}

export interface NodeName extends InContext {
	readonly node: string;
}

export interface MemberAgent {
	readonly cluster: string;
	/** Left out if no context of this run leads to it. */
	readonly context?: string;
	readonly version: string;
}

export interface BudgetOfMember extends InContext {
	readonly cluster: string;
	/** NAMESPACE/NAME */
	readonly budget: string;
}

export interface UsedBy {
	readonly cluster: string;
	readonly namespace: string;
	readonly pod: string;
	readonly why: string;
	readonly holder?: string;
	/** The verified user of the holder. */
	readonly account?: string;
	/** Set if the holder is this run. */
	readonly own?: true;
	/** The STATUS of kubectl get pods, or Reserved. Left out by old agents. */
	readonly state?: string;
	/** Why no node accepts the pod, in the scheduler's words. */
	readonly message?: string;
	/** When the state began, in seconds since the epoch, by the clock of the component that wrote it. */
	readonly sinceSeconds?: number;
}

/** Pods that wait for the same thing. */
export interface WaitSum {
	readonly pods: number;
	readonly reason: Reason;
	readonly budget?: string;
	readonly usedBy: readonly UsedBy[];
}

export interface UnrecoveredBudget {
	/** NAMESPACE/NAME */
	readonly budget: string;
	/** Left out if unknown, for example because a cluster did not answer. */
	readonly healthy?: number;
	readonly expected?: number;
	/** Pods that controllers want but that are not counted: not created, or not selected by the budget. */
	readonly missing: number;
	/** Existing pods that count as down. */
	readonly usedBy: readonly UsedBy[];
	readonly message: string;
}

export type RunEvent =
	/** Diagnostics and logins may come earlier. */
	| {
			readonly type: "run.started";
			/** Empty if there is no fleet, or if the run does not connect to it. */
			readonly members: readonly MemberAgent[];
			readonly nodes: readonly NodeName[];
			/** The pods that an evict named or selected. Empty for a drain, which finds its pods later. */
			readonly pods: readonly PodEvent[];
			readonly dryRun: DryRun;
	  }
	| ({
			readonly type: "node.cordoned" | "node.uncordoned";
			readonly node: string;
			readonly already: boolean;
			/**
			 * Whether this run may undo the change: the change was made by this run, or by an unfinished run from which this run took the
			 * node.
			 */
			readonly ours: boolean;
			readonly dryRun: DryRun;
	  } & InContext)
	| ({
			readonly type: "node.cordonFailed";
			readonly node: string;
			readonly uncordon: boolean;
			readonly message: string;
	  } & InContext)
	/** One event per member that has the budget. Sent only when all of them have the change, or in a dry run. */
	| ({
			readonly type: "budget.suspended" | "budget.unsuspended";
			readonly already: boolean;
			/** Left out if this run removed the suspension, or if there is no readable annotation. */
			readonly suspension?: Suspension;
			readonly dryRun: DryRun;
	  } & BudgetOfMember)
	| ({
			readonly type: "budget.suspendFailed";
			readonly unsuspend: boolean;
			readonly message: string;
	  } & BudgetOfMember)
	/** An attempt to remove the suspension from this member, because it could not be written in all members. */
	| ({
			readonly type: "budget.takenBack";
			/** The state now. Left out if unknown. */
			readonly suspended?: boolean;
			readonly message: string;
	  } & BudgetOfMember)
	| ({ readonly type: "node.warning"; readonly node: string; readonly message: string } & InContext)
	/** The node's turn has come. `pods`: how many will be evicted. */
	| ({ readonly type: "node.draining"; readonly node: string; readonly pods: number } & InContext)
	| ({ readonly type: "node.drained"; readonly node: string; readonly dryRun: DryRun } & InContext)
	| ({
			readonly type: "node.failed";
			readonly node: string;
			readonly reason: Reason;
			/** What stopped the drain, for people. */
			readonly why: string;
			/** One sentence per failed pod or refusing filter, or one for the whole node. */
			readonly errors: readonly string[];
			/** If pods failed: the pods that a drain would still evict from the node. */
			readonly pending: readonly string[];
	  } & InContext)
	/** Repeats the failures at the end of a failed drain, as kubectl does. Empty with several contexts. */
	| { readonly type: "run.failed"; readonly errors: readonly string[] }
	/** The nodes that are not drained, at the end of a failed drain, without those in contexts that gave no answer. */
	| { readonly type: "nodes.pending"; readonly nodes: readonly NodeName[] }
	| ({
			readonly type: "pod.evicting";
			readonly dryRun: DryRun;
			readonly deletes: boolean;
			readonly budgets: readonly string[];
			readonly attempt: number;
	  } & PodEvent)
	/** The API server refused for now, or its answer is unknown. `message` is in kubectl's words. */
	| ({
			readonly type: "pod.retrying";
			readonly reason: Reason;
			readonly message: string;
			readonly retryAfterMs: number;
	  } & PodEvent)
	/** The pod waits, for example for a budget or for a member that does not answer. */
	| ({
			readonly type: "pod.waiting";
			readonly reason: Reason;
			readonly message: string;
			readonly budget?: string;
			readonly need?: number;
			readonly healthy?: number;
			readonly expected?: number;
			/** The longest time until the next request. Left out in a dry run. */
			readonly retryAfterMs?: number;
			/** Set in a dry run: the pod would wait. */
			readonly dryRun?: DryRun;
			readonly usedBy: readonly UsedBy[];
	  } & PodEvent)
	/** The API server accepted the eviction. */
	| ({
			readonly type: "pod.accepted";
			readonly waitedMs: number;
			/** How long the pod may take to terminate. */
			readonly graceSeconds: number;
	  } & PodEvent)
	/** pod.gone: the pod was gone before this run evicted it. pod.stopped: the run was stopped, or lost the node, before the pod was gone. */
	| ({ readonly type: "pod.gone" | "pod.stopped"; readonly waitedMs: number } & PodEvent)
	| ({ readonly type: "pod.skipped"; readonly message: string } & PodEvent)
	| ({ readonly type: "pod.evicted"; readonly deletes: boolean; readonly elapsedMs: number } & PodEvent)
	| ({
			readonly type: "pod.failed";
			readonly reason: Reason;
			readonly message: string;
			readonly deletes: boolean;
			/** Whether the eviction was accepted, but the end of the pod was not seen. */
			readonly accepted: boolean;
			readonly waitedMs: number;
	  } & PodEvent)
	/** A budget's state: from a round if it changed or after a grant, from the wait of --for=replaced, or from the budget watch. */
	| ({
			readonly type: "budget.changed";
			readonly budget: string;
			/** Only from the watch: the pods that use up the budget. */
			readonly usedBy?: readonly UsedBy[];
	  } & Omit<BudgetState, "budget">)
	/** The watch does not know the budget's state. Treated as no disruption left. */
	| { readonly type: "budget.unknown"; readonly budget: string; readonly message: string }
	/** At the end of a run, for a budget that it evicted under: fewer pods are healthy than expected, or the number is unknown. */
	| ({ readonly type: "budget.notRecovered" } & UnrecoveredBudget)
	/** From a drain, before it changes anything. */
	| {
			readonly type: "plan";
			readonly nodes: number;
			readonly pods: number;
			readonly waits: number;
			/** Pods that can never be evicted as things are. */
			readonly impossible: number;
			readonly perNode: readonly (NodeName & { readonly pods: number })[];
			/**
			 * The shortest and the longest duration. null: unknown, because a pod waits for something outside this drain, or can never be
			 * evicted.
			 */
			readonly etaSeconds: readonly [number, number | null];
	  }
	| {
			readonly type: "lease.acquired";
			readonly budget: string;
			readonly cluster: string;
			readonly holder: string;
			/** The lease expires after this time, unless it is renewed or released. */
			readonly ttlSeconds: number;
			readonly waitedMs: number;
	  }
	| {
			readonly type: "lease.released";
			readonly budget: string;
			readonly cluster: string;
			readonly heldMs: number;
	  }
	/** The lease has another holder or none. No pod is evicted under it. */
	| {
			readonly type: "lease.lost";
			readonly budget: string;
			readonly cluster: string;
			readonly heldMs: number;
			readonly message: string;
	  }
	| {
			readonly type: "lease.waiting";
			readonly budget: string;
			readonly cluster: string;
			readonly holder: string;
			readonly position: number;
			readonly heldForMs: number;
	  }
	| {
			readonly type: "cluster.unreachable";
			readonly cluster: string;
			readonly message: string;
			/** The part that did not answer, if known. */
			readonly silent?: Silent;
			readonly elapsedMs: number;
	  }
	| { readonly type: "cluster.recovered"; readonly cluster: string; readonly elapsedMs: number }
	/** A login program uses the terminal to ask the user. */
	| { readonly type: "login.started"; readonly contexts: readonly string[]; readonly command: string }
	| {
			readonly type: "login.ended";
			readonly contexts: readonly string[];
			readonly command: string;
			readonly elapsedMs: number;
			readonly message?: string;
	  }
	| {
			readonly type: "diagnostic";
			readonly level: "error" | "warning" | "info";
			readonly context?: string;
			readonly reason?: Reason;
			/** TakenOver: the node. DrainDeadlock: the first node to uncordon. */
			readonly node?: string;
			/** BudgetSuspended, DrainDeadlock: NAMESPACE/NAME. */
			readonly budget?: string;
			/** BudgetSuspended: the annotation, if readable. */
			readonly suspension?: Suspension;
			readonly message: string;
	  }
	| {
			readonly type: "progress";
			/** Gone, skipped or failed. */
			readonly podsDone: number;
			readonly failed: number;
			readonly podsTotal: number;
			readonly nodesDone: number;
			readonly nodesTotal: number;
			readonly waiting: number;
			readonly terminating: number;
			/** What the waiting pods wait for, as far as known. Largest group first. */
			readonly waits: readonly WaitSum[];
	  }
	/** The user paused the run: it starts no evictions until it is resumed. */
	| { readonly type: "paused"; readonly accepted: number }
	| { readonly type: "resumed"; readonly pausedMs: number }
	| { readonly type: "interrupted"; readonly accepted: number; readonly graceSeconds: number }
	| RunSummary;

export type RunCommand = "drain" | "evict" | "cordon" | "uncordon" | "suspend" | "unsuspend";

export interface RunSummary {
	readonly type: "summary";
	readonly command: RunCommand;
	readonly op?: string;
	readonly exitCode: number;
	readonly interrupted: boolean;
	readonly evicted: number;
	readonly failed: number;
	readonly drained: readonly NodeName[];
	readonly notDrained: readonly (NodeName & { readonly reason: Reason; readonly message: string })[];
	/** Nodes that this run did not drain and whose cordon it may undo. */
	readonly cordoned: readonly NodeName[];
	readonly uncordoned: readonly NodeName[];
	/** Budgets that the run evicted under and that lack pods at its end, or may lack some. */
	readonly notRecovered: readonly UnrecoveredBudget[];
	readonly longestWaitMs: number;
	/** Left out if it was not a dry run. */
	readonly dryRun?: Exclude<DryRun, "none">;
	/** After an interrupted run: evicted pods whose end the run has not seen. */
	readonly terminating?: readonly PodEvent[];
	readonly resume?: string;
	readonly undo?: string;
}

export type EventSink = (event: RunEvent) => void;
