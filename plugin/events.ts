// The one stream of events of a run. Plain lines, JSON, the terminal UI and the tests are its readers; nothing else tells
// a person what happens. Fields are stable, `message` is for people.

/** "" in a cluster that no kubeconfig names. */
interface InContext {
	readonly context: string;
}

export interface PodEvent extends InContext {
	readonly namespace: string;
	readonly pod: string;
	/** The node that is being drained; none where a pod was named. */
	readonly node?: string;
}

export type DryRun = "none" | "client" | "server";

export interface UsedBy {
	readonly cluster: string;
	readonly namespace: string;
	readonly pod: string;
	readonly why: string;
	readonly holder?: string;
	/** Since the epoch, by the clock of whoever wrote it. */
	readonly sinceSeconds?: number;
}

export type RunEvent =
	| ({
			readonly type: "node.cordoned" | "node.uncordoned";
			readonly node: string;
			readonly already: boolean;
			readonly dryRun: DryRun;
	  } & InContext)
	| ({
			readonly type: "node.cordonFailed";
			readonly node: string;
			readonly uncordon: boolean;
			readonly message: string;
	  } & InContext)
	| ({ readonly type: "node.warning"; readonly node: string; readonly message: string } & InContext)
	| ({ readonly type: "node.drained"; readonly node: string; readonly dryRun: DryRun } & InContext)
	| ({
			readonly type: "node.failed";
			readonly node: string;
			/** One sentence for each pod or filter that failed. */
			readonly errors: readonly string[];
			/** Pods that were still to go; none where the filters refused. */
			readonly pending: readonly string[];
	  } & InContext)
	/** What failed, at the end of a run: kubectl repeats it there. */
	| { readonly type: "run.failed"; readonly errors: readonly string[] }
	/** All nodes that are not drained, at the end of a run with failures. */
	| { readonly type: "nodes.pending"; readonly nodes: readonly { readonly context: string; readonly node: string }[] }
	| ({
			readonly type: "pod.evicting";
			readonly dryRun: DryRun;
			readonly deletes: boolean;
			readonly budgets: readonly string[];
			readonly attempt: number;
	  } & PodEvent)
	/** The API server said no for now; in kubectl's words. */
	| ({ readonly type: "pod.retrying"; readonly message: string; readonly retryAfterMs: number } & PodEvent)
	/** A budget, or somebody who holds it, keeps the pod. */
	| ({
			readonly type: "pod.waiting";
			readonly reason: string;
			readonly message: string;
			readonly budget?: string;
			readonly need?: number;
			readonly healthy?: number;
			readonly expected?: number;
			readonly usedBy: readonly UsedBy[];
	  } & PodEvent)
	/** The API server took the eviction; the pod is terminating. */
	| ({ readonly type: "pod.accepted" } & PodEvent)
	| ({ readonly type: "pod.skipped"; readonly message: string } & PodEvent)
	| ({ readonly type: "pod.evicted"; readonly deletes: boolean; readonly elapsedMs: number } & PodEvent)
	| ({
			readonly type: "pod.failed";
			readonly message: string;
			readonly deletes: boolean /** It was accepted, but its end was not seen. */;
			readonly accepted: boolean;
	  } & PodEvent)
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
			readonly elapsedMs: number;
	  }
	| { readonly type: "cluster.recovered"; readonly cluster: string; readonly elapsedMs: number }
	| {
			readonly type: "diagnostic";
			readonly level: "warning" | "info";
			readonly context?: string;
			readonly message: string;
	  }
	| {
			readonly type: "progress";
			readonly podsDone: number;
			readonly podsTotal: number;
			readonly nodesDone: number;
			readonly nodesTotal: number;
			readonly waiting: number;
			readonly terminating: number;
	  }
	| { readonly type: "interrupted"; readonly accepted: number; readonly graceSeconds: number }
	| RunSummary;

export interface RunSummary {
	readonly type: "summary";
	readonly command: "drain" | "evict";
	readonly exitCode: number;
	readonly interrupted: boolean;
	readonly evicted: number;
	readonly failed: number;
	readonly drained: readonly string[];
	readonly notDrained: readonly { readonly node: string; readonly reason: string }[];
	/** Nodes that this run leaves cordoned and not drained. */
	readonly cordoned: readonly { readonly context: string; readonly node: string }[];
	readonly longestWaitMs: number;
	/** The command that continues, where something is left. */
	readonly resume?: string;
	readonly undo?: readonly string[];
}

export type EventSink = (event: RunEvent) => void;
