// Defines the events of a run. Plain lines, -o json, the screen, the report and the tests all use this single stream.
// plugin/output/schemas/ publishes the form of -o json. `message` is for people.
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
	/** The node that is being drained. Left out if the pod was named. */
	readonly node?: string;
}

export interface NodeName extends InContext {
	readonly node: string;
}

/** The agents of a member of the fleet, as the run found them. */
export interface MemberAgent {
	/** Its name in the fleet. */
	readonly cluster: string;
	/** The context of this run that leads to it, if there is one. */
	readonly context?: string;
	/** The version of its agent. */
	readonly version: string;
}

/** A budget as one member of the fleet has it. */
export interface BudgetOfMember extends InContext {
	/** The member's name in the fleet. */
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
	/** The verified user behind the holder. */
	readonly account?: string;
	/** Set if the holder is this run. */
	readonly own?: true;
	/** The STATUS of kubectl get pods, or Reserved. Left out by old agents. */
	readonly state?: string;
	/** Why no node accepts the pod, in the scheduler's words. */
	readonly message?: string;
	/** Seconds since the epoch, by the clock of the process that wrote it. */
	readonly sinceSeconds?: number;
}

/** Pods that wait for the same thing. */
export interface WaitSum {
	readonly pods: number;
	readonly reason: Reason;
	readonly budget?: string;
	/** The pods that use up that budget. */
	readonly usedBy: readonly UsedBy[];
}

export interface UnrecoveredBudget {
	/** NAMESPACE/NAME */
	readonly budget: string;
	/** Left out if a cluster did not answer. `message` says why. */
	readonly healthy?: number;
	readonly expected?: number;
	/** Pods that their controllers want but that are not counted: not created, or with labels that the budget does not select. */
	readonly missing: number;
	/** Pods that exist and count as down. */
	readonly usedBy: readonly UsedBy[];
	readonly message: string;
}

export type RunEvent =
	/** The run goes ahead. Diagnostics and logins may come before this event. */
	| {
			readonly type: "run.started";
			/** Empty if there is no fleet. */
			readonly members: readonly MemberAgent[];
			readonly nodes: readonly NodeName[];
			/** The named pods. A drain finds its pods later. */
			readonly pods: readonly PodEvent[];
			readonly dryRun: DryRun;
	  }
	| ({
			readonly type: "node.cordoned" | "node.uncordoned";
			readonly node: string;
			readonly already: boolean;
			/** Whether this run may undo the change: this run made it, or an unfinished run that it resumes or takes over did. */
			readonly ours: boolean;
			readonly dryRun: DryRun;
	  } & InContext)
	| ({
			readonly type: "node.cordonFailed";
			readonly node: string;
			readonly uncordon: boolean;
			readonly message: string;
	  } & InContext)
	/** One event for each member that has the budget, and only after the change is in place in all of them, or was a dry run. */
	| ({
			readonly type: "budget.suspended" | "budget.unsuspended";
			readonly already: boolean;
			/** The suspension that is in place. Left out if there is none, or no readable annotation. */
			readonly suspension?: Suspension;
			readonly dryRun: DryRun;
	  } & BudgetOfMember)
	| ({
			readonly type: "budget.suspendFailed";
			readonly unsuspend: boolean;
			readonly message: string;
	  } & BudgetOfMember)
	/** An attempt to take back a suspension in this member, because it could not be written in all of them. */
	| ({
			readonly type: "budget.takenBack";
			/** The state now. Left out if unknown. */
			readonly suspended?: boolean;
			readonly message: string;
	  } & BudgetOfMember)
	| ({ readonly type: "node.warning"; readonly node: string; readonly message: string } & InContext)
	/** The node's turn has come. `pods`: how many pods will be evicted from it. */
	| ({ readonly type: "node.draining"; readonly node: string; readonly pods: number } & InContext)
	| ({ readonly type: "node.drained"; readonly node: string; readonly dryRun: DryRun } & InContext)
	| ({
			readonly type: "node.failed";
			readonly node: string;
			readonly reason: Reason;
			/** What stopped the drain, in words. */
			readonly why: string;
			/** One sentence for each pod that failed, or for each filter that refused. */
			readonly errors: readonly string[];
			/** If pods failed: names of the pods that a drain would still take from the node. Empty if the node failed for another reason. */
			readonly pending: readonly string[];
	  } & InContext)
	/** Failures, at the end of a run: kubectl repeats them there. */
	| { readonly type: "run.failed"; readonly errors: readonly string[] }
	/** All nodes that are not drained, at the end of a run with failures. */
	| { readonly type: "nodes.pending"; readonly nodes: readonly NodeName[] }
	| ({
			readonly type: "pod.evicting";
			readonly dryRun: DryRun;
			readonly deletes: boolean;
			readonly budgets: readonly string[];
			readonly attempt: number;
	  } & PodEvent)
	/** The API server refused for now, or its answer is unknown. The message is worded as kubectl words it. */
	| ({
			readonly type: "pod.retrying";
			readonly reason: Reason;
			readonly message: string;
			readonly retryAfterMs: number;
	  } & PodEvent)
	/** The pod waits, for example for a budget, or for a member that does not answer. */
	| ({
			readonly type: "pod.waiting";
			readonly reason: Reason;
			readonly message: string;
			readonly budget?: string;
			readonly need?: number;
			readonly healthy?: number;
			readonly expected?: number;
			/** The longest time until the next request, if known. */
			readonly retryAfterMs?: number;
			/** Set in a dry run: in a real run, the pod would wait. */
			readonly dryRun?: DryRun;
			readonly usedBy: readonly UsedBy[];
	  } & PodEvent)
	/** The API server accepted the eviction. Unless this is a dry run, the pod is terminating. */
	| ({
			readonly type: "pod.accepted";
			readonly waitedMs: number;
			/** How long the pod may take to terminate. */
			readonly graceSeconds: number;
	  } & PodEvent)
	/** The pod was gone before this run evicted it, or the run was stopped, or lost the node, before the pod was gone. */
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
	/**
	 * The state of a budget: a round's count, if it differs from the one reported last or follows a grant; the count that ends the wait of
	 * --for=replaced; or a change that the budget watch of a run reports, while a user watches or the counts are recorded.
	 */
	| ({
			readonly type: "budget.changed";
			readonly budget: string;
			/**
			 * Only from the watch: the pods that use the budget up. The watch reports every change, and also reports when it no longer can.
			 */
			readonly usedBy?: readonly UsedBy[];
	  } & Omit<BudgetState, "budget">)
	/** The watch does not know the budget's state. That counts as no disruption left. */
	| { readonly type: "budget.unknown"; readonly budget: string; readonly message: string }
	/** At the end of a run, for a budget that it evicted under: fewer pods are healthy than expected, or this is unknown. */
	| ({ readonly type: "budget.notRecovered" } & UnrecoveredBudget)
	/** From a drain, before it changes anything. */
	| {
			readonly type: "plan";
			readonly nodes: number;
			readonly pods: number;
			/** Pods that have to wait. */
			readonly waits: number;
			/** Pods that can never be evicted as things are. */
			readonly impossible: number;
			/** How many pods are evicted from each node. */
			readonly perNode: readonly (NodeName & { readonly pods: number })[];
			/** The shortest and the longest duration. null: no upper limit, because someone else has to act first. */
			readonly etaSeconds: readonly [number, number | null];
	  }
	| {
			readonly type: "lease.acquired";
			readonly budget: string;
			readonly cluster: string;
			readonly holder: string;
			/** The lease ends by itself after this time, unless it is renewed or released. */
			readonly ttlSeconds: number;
			readonly waitedMs: number;
	  }
	| {
			readonly type: "lease.released";
			readonly budget: string;
			readonly cluster: string;
			readonly heldMs: number;
	  }
	/** Another holder has the lease now, or it has no holder. No pod is evicted under it. */
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
			/** Which part did not answer, if known. */
			readonly silent?: Silent;
			readonly elapsedMs: number;
	  }
	| { readonly type: "cluster.recovered"; readonly cluster: string; readonly elapsedMs: number }
	/** A login program has the terminal, to ask the user. */
	| { readonly type: "login.started"; readonly contexts: readonly string[]; readonly command: string }
	| {
			readonly type: "login.ended";
			readonly contexts: readonly string[];
			readonly command: string;
			readonly elapsedMs: number;
			/** Why there is no credential. */
			readonly message?: string;
	  }
	| {
			readonly type: "diagnostic";
			readonly level: "error" | "warning" | "info";
			readonly context?: string;
			readonly reason?: Reason;
			/** TakenOver: the node that was taken over. DrainDeadlock: the first node that would have to be uncordoned. */
			readonly node?: string;
			/** BudgetSuspended, DrainDeadlock: NAMESPACE/NAME. */
			readonly budget?: string;
			/** BudgetSuspended: who suspended it, if the annotation says so. */
			readonly suspension?: Suspension;
			readonly message: string;
	  }
	| {
			readonly type: "progress";
			/** Gone, skipped or failed. */
			readonly podsDone: number;
			/** How many of those failed. */
			readonly failed: number;
			readonly podsTotal: number;
			readonly nodesDone: number;
			readonly nodesTotal: number;
			readonly waiting: number;
			readonly terminating: number;
			/** What the waiting pods wait for, as far as known. The largest group comes first. */
			readonly waits: readonly WaitSum[];
	  }
	/** The user paused the run: nothing new is evicted until it is resumed. */
	| { readonly type: "paused"; readonly accepted: number }
	| { readonly type: "resumed"; readonly pausedMs: number }
	| { readonly type: "interrupted"; readonly accepted: number; readonly graceSeconds: number }
	| RunSummary;

export type RunCommand = "drain" | "evict" | "cordon" | "uncordon" | "suspend" | "unsuspend";

export interface RunSummary {
	readonly type: "summary";
	readonly command: RunCommand;
	/** The run's id, if it has one. */
	readonly op?: string;
	readonly exitCode: number;
	readonly interrupted: boolean;
	readonly evicted: number;
	readonly failed: number;
	readonly drained: readonly NodeName[];
	readonly notDrained: readonly (NodeName & { readonly reason: Reason; readonly message: string })[];
	/** Nodes whose cordon this run may undo, and that it did not drain. */
	readonly cordoned: readonly NodeName[];
	readonly uncordoned: readonly NodeName[];
	/** Budgets that the run evicted under and that lack pods at its end, or may lack some. */
	readonly notRecovered: readonly UnrecoveredBudget[];
	readonly longestWaitMs: number;
	/** Nothing was changed. Left out if it was not a dry run. */
	readonly dryRun?: Exclude<DryRun, "none">;
	/** After an interrupted run: pods whose eviction was accepted but whose end the run has not seen. */
	readonly terminating?: readonly PodEvent[];
	/** The command that continues the run, if something is left. */
	readonly resume?: string;
	readonly undo?: string;
}

export type EventSink = (event: RunEvent) => void;
