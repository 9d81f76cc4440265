// The one stream of events of a run. Plain lines, JSON, the terminal UI and the tests are its readers; nothing else tells
// a person what happens. What -o json makes of them is published in schemas/; `message` is for people.
import type { BudgetState } from "../../disruption/budget/allowance.ts";
import type { Silent } from "../../disruption/errors.ts";
import type { Suspension } from "../../disruption/budget/suspension.ts";
import type { DryRun } from "../flags/dry-run.ts";
import type { Reason } from "./reason.ts";

/** "" in a cluster that no kubeconfig names. */
interface InContext {
	readonly context: string;
}

export interface PodEvent extends InContext {
	readonly namespace: string;
	readonly pod: string;
	readonly uid?: string;
	/** The node that is being drained; none where a pod was named. */
	readonly node?: string;
}

export interface NodeName extends InContext {
	readonly node: string;
}

/** The agents of a member of the fleet, as a run has met them. */
export interface MemberAgent {
	/** Its name in the fleet. */
	readonly cluster: string;
	/** The context of this run that leads to it, where one does. */
	readonly context?: string;
	/** Of its agent. */
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
	/** The verified user behind that. */
	readonly account?: string;
	/** It is this very run. */
	readonly own?: true;
	/** As kubectl get pods has it in STATUS, or Reserved; none from old agents. */
	readonly state?: string;
	/** Why no node takes it, in the scheduler's words. */
	readonly message?: string;
	/** Since the epoch, by the clock of whoever wrote it. */
	readonly sinceSeconds?: number;
}

/** Pods that wait for the same. */
export interface WaitSum {
	readonly pods: number;
	readonly reason: Reason;
	readonly budget?: string;
	/** Who uses that budget up. */
	readonly usedBy: readonly UsedBy[];
}

export interface UnrecoveredBudget {
	/** NAMESPACE/NAME */
	readonly budget: string;
	/** None where a cluster did not tell; `message` says why. */
	readonly healthy?: number;
	readonly expected?: number;
	/** Pods that their controllers want and have not made. */
	readonly missing: number;
	/** Pods that are there and count as down. */
	readonly usedBy: readonly UsedBy[];
	readonly message: string;
}

export type RunEvent =
	/** The first event of a run that goes ahead. */
	| {
			readonly type: "run.started";
			/** None where there is no fleet. */
			readonly members: readonly MemberAgent[];
			readonly nodes: readonly NodeName[];
			/** Those that were named; a drain finds its pods as it goes. */
			readonly pods: readonly PodEvent[];
			readonly dryRun: DryRun;
	  }
	| ({
			readonly type: "node.cordoned" | "node.uncordoned";
			readonly node: string;
			readonly already: boolean;
			/** This run did it, so this run may undo it. */
			readonly ours: boolean;
			readonly dryRun: DryRun;
	  } & InContext)
	| ({
			readonly type: "node.cordonFailed";
			readonly node: string;
			readonly uncordon: boolean;
			readonly message: string;
	  } & InContext)
	/** Of one member, and only when it stands in all of them. */
	| ({
			readonly type: "budget.suspended" | "budget.unsuspended";
			readonly already: boolean;
			/** Of the one that began or, where it ends, of the one that ended; none where nobody wrote it down. */
			readonly suspension?: Suspension;
			readonly dryRun: DryRun;
	  } & BudgetOfMember)
	| ({
			readonly type: "budget.suspendFailed";
			readonly unsuspend: boolean;
			readonly message: string;
	  } & BudgetOfMember)
	/** A suspension that did not stand in all members was taken back in this one. */
	| ({
			readonly type: "budget.takenBack";
			/** How it is now; none where nobody knows. */
			readonly suspended?: boolean;
			readonly message: string;
	  } & BudgetOfMember)
	| ({ readonly type: "node.warning"; readonly node: string; readonly message: string } & InContext)
	/** Its turn has come; `pods` is how many go from it. */
	| ({ readonly type: "node.draining"; readonly node: string; readonly pods: number } & InContext)
	| ({ readonly type: "node.drained"; readonly node: string; readonly dryRun: DryRun } & InContext)
	| ({
			readonly type: "node.failed";
			readonly node: string;
			readonly reason: Reason;
			/** What kept it, in words. */
			readonly why: string;
			/** One sentence for each pod or filter that failed. */
			readonly errors: readonly string[];
			/** Pods that were still to go; none where the filters refused. */
			readonly pending: readonly string[];
	  } & InContext)
	/** What failed, at the end of a run: kubectl repeats it there. */
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
	/** The API server said no for now; in kubectl's words. */
	| ({
			readonly type: "pod.retrying";
			readonly reason: Reason;
			readonly message: string;
			readonly retryAfterMs: number;
	  } & PodEvent)
	/** A budget, or somebody who holds it, keeps the pod. */
	| ({
			readonly type: "pod.waiting";
			readonly reason: Reason;
			readonly message: string;
			readonly budget?: string;
			readonly need?: number;
			readonly healthy?: number;
			readonly expected?: number;
			/** When it is asked for again at the latest, as far as that is known. */
			readonly retryAfterMs?: number;
			/** It would wait: nothing was asked for. */
			readonly dryRun?: DryRun;
			readonly usedBy: readonly UsedBy[];
	  } & PodEvent)
	/** The API server took the eviction; the pod is terminating. */
	| ({
			readonly type: "pod.accepted";
			readonly waitedMs: number;
			/** How long it may take to terminate. */
			readonly graceSeconds: number;
	  } & PodEvent)
	/** Nobody evicted it any more: gone before, or left where it is by a stop. */
	| ({ readonly type: "pod.gone" | "pod.stopped"; readonly waitedMs: number } & PodEvent)
	| ({ readonly type: "pod.skipped"; readonly message: string } & PodEvent)
	| ({ readonly type: "pod.evicted"; readonly deletes: boolean; readonly elapsedMs: number } & PodEvent)
	| ({
			readonly type: "pod.failed";
			readonly reason: Reason;
			readonly message: string;
			readonly deletes: boolean;
			/** It was accepted, but its end was not seen. */
			readonly accepted: boolean;
			readonly waitedMs: number;
	  } & PodEvent)
	/** What a round counted, where it is another count than before; or what the watch of a run says that somebody looks at. */
	| ({
			readonly type: "budget.changed";
			readonly budget: string;
			/** Of the watch: its pods that are not healthy. It tells every change, and says so where it cannot any more. */
			readonly usedBy?: readonly UsedBy[];
	  } & Omit<BudgetState, "budget">)
	/** The watch cannot tell what it comes to, which counts as nothing left. */
	| { readonly type: "budget.unknown"; readonly budget: string; readonly message: string }
	/** At the end of a run, of a budget that it evicted under: fewer pods are healthy than are expected. */
	| ({ readonly type: "budget.notRecovered" } & UnrecoveredBudget)
	/** Of a drain, before it touches anything. */
	| {
			readonly type: "plan";
			readonly nodes: number;
			readonly pods: number;
			/** Pods that wait for something. */
			readonly waits: number;
			/** Pods that can never go as things are. */
			readonly impossible: number;
			/** Pods to take from each node. */
			readonly perNode: readonly (NodeName & { readonly pods: number })[];
			/** At least and at most; null: somebody else has to do something first. */
			readonly etaSeconds: readonly [number, number | null];
	  }
	| {
			readonly type: "lease.acquired";
			readonly budget: string;
			readonly cluster: string;
			readonly holder: string;
			/** It ends by itself after this time, unless it is renewed or given back. */
			readonly ttlSeconds: number;
			readonly waitedMs: number;
	  }
	| {
			readonly type: "lease.released";
			readonly budget: string;
			readonly cluster: string;
			readonly heldMs: number;
	  }
	/** Somebody else has it now, or nobody: nothing is evicted under it. */
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
			/** Who it was that gave none, as far as it is known. */
			readonly silent?: Silent;
			readonly elapsedMs: number;
	  }
	| { readonly type: "cluster.recovered"; readonly cluster: string; readonly elapsedMs: number }
	/** A login program has the terminal to ask a person. */
	| { readonly type: "login.started"; readonly contexts: readonly string[]; readonly command: string }
	| {
			readonly type: "login.ended";
			readonly contexts: readonly string[];
			readonly command: string;
			readonly elapsedMs: number;
			/** Why it gave no credential. */
			readonly message?: string;
	  }
	| {
			readonly type: "diagnostic";
			readonly level: "error" | "warning" | "info";
			readonly context?: string;
			readonly reason?: Reason;
			/** TakenOver: of which node. DrainDeadlock: the first one that would have to be uncordoned. */
			readonly node?: string;
			/** BudgetSuspended, DrainDeadlock: NAMESPACE/NAME. */
			readonly budget?: string;
			/** BudgetSuspended: by whom, where that was written down. */
			readonly suspension?: Suspension;
			readonly message: string;
	  }
	| {
			readonly type: "progress";
			/** Gone, skipped or failed. */
			readonly podsDone: number;
			/** Of those. */
			readonly failed: number;
			readonly podsTotal: number;
			readonly nodesDone: number;
			readonly nodesTotal: number;
			readonly waiting: number;
			readonly terminating: number;
			/** What they wait for, as far as that is known: most pods first. */
			readonly waits: readonly WaitSum[];
	  }
	/** Somebody asked for it: nothing new is evicted until the run is resumed. */
	| { readonly type: "paused"; readonly accepted: number }
	| { readonly type: "resumed"; readonly pausedMs: number }
	| { readonly type: "interrupted"; readonly accepted: number; readonly graceSeconds: number }
	| RunSummary;

export type RunCommand = "drain" | "evict" | "cordon" | "uncordon" | "suspend" | "unsuspend";

export interface RunSummary {
	readonly type: "summary";
	readonly command: RunCommand;
	/** The run's id, where it has one. */
	readonly op?: string;
	readonly exitCode: number;
	readonly interrupted: boolean;
	readonly evicted: number;
	readonly failed: number;
	readonly drained: readonly NodeName[];
	readonly notDrained: readonly (NodeName & { readonly reason: Reason; readonly message: string })[];
	/** Nodes that this run cordoned and did not drain. */
	readonly cordoned: readonly NodeName[];
	readonly uncordoned: readonly NodeName[];
	/** Budgets that it evicted under, and that lack pods at its end. */
	readonly notRecovered: readonly UnrecoveredBudget[];
	readonly longestWaitMs: number;
	/** Nothing was changed; left out for a run that was none. */
	readonly dryRun?: Exclude<DryRun, "none">;
	/** Of a run that was left: pods whose eviction was accepted and whose end it has not seen. */
	readonly terminating?: readonly PodEvent[];
	/** The command that continues, where something is left. */
	readonly resume?: string;
	readonly undo?: string;
}

export type EventSink = (event: RunEvent) => void;
