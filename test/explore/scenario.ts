// Defines a scenario: its clusters, pods and budgets, its drains, and what else can happen.
import type { Step } from "./scheduler.ts";
import type { WorkloadSpec } from "./workload.ts";

/** A budget as one member has it. `selector` is its matchLabels. */
export interface BudgetData {
	readonly name: string;
	readonly selector: Readonly<Record<string, string>>;
	readonly minAvailable?: number | string;
	readonly maxUnavailable?: number | string;
	readonly suspend?: boolean;
}

export interface NativeBudgetData {
	readonly selector: Readonly<Record<string, string>>;
	readonly minAvailable: number;
}

export interface ClusterData {
	readonly id: string;
	readonly agents: number;
	readonly workloads: readonly WorkloadSpec[];
	readonly budgets: readonly BudgetData[];
	readonly nativeBudgets?: readonly NativeBudgetData[];
	/** Ids of the members that the cluster declares. By default all clusters of the scenario. */
	readonly fleet?: readonly string[];
}

/** One plugin process. */
export interface DrainData {
	readonly name: string;
	/** As "cluster/pod". */
	readonly pods: readonly string[];
	/** Nodes to drain after `pods` are evicted, as "cluster/node". A thin process (drain-process.ts) ignores them. */
	readonly nodes?: readonly string[];
	/** The timeout of each node (--timeout). */
	readonly timeoutMs?: number;
	/** Pods are evicted in the order of this label's value (--order-by). */
	readonly orderBy?: string;
	/**
	 * If set, the process discovers its fleet with the shipped code, through the contexts of its pods, its nodes and these clusters. Without
	 * the wire, the fleet is simulated instead.
	 */
	readonly meets?: readonly string[];
	/** A round is one attempt; plugin-process.ts says what else uses them up. */
	readonly attempts: number;
	/** The members over which the process runs its rounds, in its own order. By default all, as listed. */
	readonly members?: readonly string[];
	/** The agent that the process asks in each cluster, as an index into the living ones. By default any, or in some runs the first. */
	readonly agent?: number;
	/** The process reaches all members through the agents of this cluster. Without the wire, this has no effect. */
	readonly through?: string;
	/** If an eviction or its answer is lost, the API server answers 504 and 500 in turn. The eviction may still have been executed. */
	readonly serverErrors?: boolean;
	/** The process deletes pods instead of evicting them (--disable-eviction). */
	readonly deletes?: boolean;
	/** The process runs with --dry-run=server. */
	readonly dryRun?: boolean;
	/** When its pod is gone, the process continues with the next pod of that name. */
	readonly follows?: boolean;
	/** A thin process dies instead of waiting in line, because a round after a wait is like any round after the first. */
	readonly neverWaits?: boolean;
	/** The first eviction waits this long before it is written, for credentials or a connection. */
	readonly firstSendAfterMs?: number;
}

/** Something that happens at most `times` times (once by default), at any moment at which `when` holds. */
export interface EventData<W = never> {
	readonly name: string;
	readonly times?: number;
	readonly when?: (world: W) => boolean;
	readonly run: (world: W) => void;
}

/** How often each of these can happen in one run. */
export interface Limits {
	/** An agent's clock jumps past every lease time. Its watches are alive afterwards. */
	readonly agentJumps: number;
	/** A drain's clock jumps past the time for which a grant is fresh. */
	readonly drainJumps: number;
	/** A process with calls on their way does nothing for a few seconds, so answers reach it late and its timers fire late. */
	readonly pauses: number;
	/** An agent's watches show no life until they come back, or one of its streams fails. */
	readonly silences: number;
	readonly lost: number;
	readonly gaveUp: number;
	readonly doubled: number;
	readonly repeated: number;
	readonly answerLost: number;
	readonly refused: number;
	/** Drains that die. */
	readonly crashes: number;
	/** Drains that are told to stop. */
	readonly stops: number;
	/** Agents that die and restart with an empty memory. */
	readonly restarts: number;
	/** Times that an agent begins to cancel a reservation, however young. */
	readonly cancels: number;
	/** Times that an agent ends reservations on evidence by itself. */
	readonly evidence: number;
	readonly sweeps: number;
	/** Pods that fail, or that are deleted without regard to the budgets. */
	readonly failures: number;
	/** Pods that finish, as those of Jobs do, and pods that fail for good. */
	readonly finishes: number;
	/** Writes to pods that change only the version. */
	readonly touches: number;
	/** Times that an agent looks for Leases without a budget that have been idle for a minute. */
	readonly leaseDeletions: number;
}

export const noLimits: Limits = {
	agentJumps: 0,
	drainJumps: 0,
	pauses: 0,
	silences: 0,
	lost: 0,
	gaveUp: 0,
	doubled: 0,
	repeated: 0,
	answerLost: 0,
	refused: 0,
	crashes: 0,
	stops: 0,
	restarts: 0,
	cancels: 0,
	evidence: 0,
	sweeps: 0,
	failures: 0,
	finishes: 0,
	touches: 0,
	leaseDeletions: 0,
};

export interface SearchBounds<W = never> {
	/** Replaces the scenario's own limits. */
	readonly limits: Partial<Limits>;
	readonly drains?: readonly DrainData[];
	readonly events?: readonly EventData<W>[];
	readonly freshViews?: boolean;
	/** If true, only the schedules that the scenario does not hold back. Otherwise all schedules. */
	readonly isStaged?: boolean;
	/**
	 * Calls to Leases, except lists, are executed at once, so acquire, commit, confirm and release each take one step. This is right for a
	 * cluster with one agent, which works on a Lease one call after the other anyway.
	 */
	readonly leaseCallsAtOnce?: boolean;
}

/** `W` is the world in which the events happen. A scenario without events does not need to name it. */
export interface Scenario<W = never> {
	readonly name: string;
	/** One sentence: what can go wrong here. */
	readonly about: string;
	readonly clusters: readonly ClusterData[];
	readonly drains: readonly DrainData[];
	readonly events?: readonly EventData<W>[];
	readonly limits: Partial<Limits>;
	/** Budgets, scales or the fleet change while rounds run, so reads of them are steps of the schedule. */
	readonly configChanges?: boolean;
	/** Whether the Leases have been used before (the default). If false, the first round makes them. */
	readonly leasesExist?: boolean;
	/** All agents of a cluster except the first forward an acquire to the first agent's line. */
	readonly lineHost?: boolean;
	/** What happens to evicted pods while the rounds run: they end and are replaced, they only end, or they stay terminating. */
	readonly afterEviction?: "replaced" | "ends" | "stays";
	/** Answers arrive in a step of their own in every random run. */
	readonly splitAnswers?: boolean;
	/** Views are shown every event at once. */
	readonly freshViews?: boolean;
	/**
	 * Whether settling a run ends with the eviction of a pod for which the budgets have room, and of a finished pod (settling.ts). By default
	 * true.
	 */
	readonly probe?: boolean;
	/** Runs before the drains begin. */
	readonly prepare?: (world: W) => void;
	/** Which faults can hit which requests. By default all. */
	readonly mayFail?: (fault: string, what: string) => boolean;
	/** The network fails only requests that begin with this text, for example "evict" or "evict pod web-0". */
	readonly onlyFails?: string;
	/**
	 * Returns true for a step that must wait for its moment. The step is taken anyway if only time could pass otherwise. The limits of such
	 * a staged scenario hold in every run; other scenarios draw theirs.
	 */
	readonly holdsBack?: (step: Step, world: W) => boolean;
	/** Some runs use thin drains, because the eviction engine would refuse before a round could go wrong. */
	readonly hasThinRuns?: boolean;
	/**
	 * Agents remember their members and greet each other. This matters only if the members' lists differ, or lose a member that no user
	 * removed.
	 */
	readonly knowsMembers?: boolean;
	/** A backup of each etcd is taken when the run begins, so that an event can restore it. */
	readonly isRestored?: boolean;
	/** Whether all holds are written in every run, or in none. By default in half of the random runs, and in exhaustive searches. */
	readonly writtenHolds?: boolean;
	/** As `leaseCallsAtOnce` of SearchBounds, but for random runs. */
	readonly leaseCallsAtOnce?: boolean;
	/** Whether calls go over the wire in every random run. By default in a share of the random runs, and in none if the scenario is staged. */
	readonly isWired?: boolean;
	/**
	 * Whether agents run the shipped watches over streams in every random run. By default in a share of the random runs, and in none if the
	 * scenario is staged.
	 */
	readonly isStreamed?: boolean;
	/** Whether API servers still have streamed lists once the run has begun. By default in half of the streamed runs. */
	readonly streamsLists?: boolean;
	readonly search?: SearchBounds<W>;
}
