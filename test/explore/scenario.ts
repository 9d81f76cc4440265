// What a scenario says: which clusters, pods and budgets there are, who drains what, and what else may happen.
import type { Step } from "./scheduler.ts";
import type { WorkloadSpec } from "./workload.ts";

/** A budget as one member has it; `selector` are matchLabels. */
export interface BudgetData {
	readonly name: string;
	readonly selector: Readonly<Record<string, string>>;
	readonly minAvailable?: number | string;
	readonly maxUnavailable?: number | string;
	readonly suspend?: boolean;
}

/** A PodDisruptionBudget of the cluster itself. */
export interface NativeBudgetData {
	readonly selector: Readonly<Record<string, string>>;
	readonly minAvailable: number;
}

export interface ClusterData {
	readonly id: string;
	readonly agents: number;
	readonly workloads: readonly WorkloadSpec[];
	readonly budgets: readonly BudgetData[];
	/** PodDisruptionBudgets of the cluster itself; none where it says nothing. */
	readonly nativeBudgets?: readonly NativeBudgetData[];
	/** Ids of the members that it declares; all clusters of the scenario where it says nothing. */
	readonly fleet?: readonly string[];
}

/** One plugin process. */
export interface DrainData {
	readonly name: string;
	/** "cluster/pod". */
	readonly pods: readonly string[];
	/** It drains these instead, "cluster/node". */
	readonly nodes?: readonly string[];
	/** For each of its nodes (--timeout). */
	readonly timeoutMs?: number;
	/** Pods go by the value of this label (--order-by). */
	readonly orderBy?: string;
	/** It meets its fleet by the shipped code, with the contexts of its pods and of these clusters; only over the wire. */
	readonly meets?: readonly string[];
	/** Rounds it asks for before it gives up. */
	readonly attempts: number;
	/** The members over which it runs its rounds, in the order in which it has them; by default all, as listed. */
	readonly members?: readonly string[];
	/** The agent that it asks in each cluster; any of them where it says nothing. */
	readonly agent?: number;
	/** It reaches all members through the agents of this cluster; only over the wire. */
	readonly through?: string;
	/** Of an eviction whose request or answer is lost, its API servers say 500 and 504 in turn: it may be executed all the same. */
	readonly serverErrors?: boolean;
	/** It deletes pods instead of evicting them (--disable-eviction). */
	readonly deletes?: boolean;
	/** It asks what would happen (--dry-run=server). */
	readonly dryRun?: boolean;
	/** It goes on with the pod that has the name when the one that it was asked for is gone. */
	readonly follows?: boolean;
	/** It is killed where it would wait in line: what comes after a wait is another round after the first. */
	readonly neverWaits?: boolean;
	/** Its first eviction waits for so long before it is written: for credentials, for a connection. */
	readonly firstSendAfterMs?: number;
	/** It does nothing while no budget covers its pods, where a plugin would evict them as kubectl does. */
	readonly waitsForBudget?: boolean;
}

/** Something that happens at most `times`, at any moment at which `when` holds. */
export interface EventData<W = never> {
	readonly name: string;
	readonly times?: number;
	readonly when?: (world: W) => boolean;
	readonly run: (world: W) => void;
}

/** How often at most in one run. */
export interface Limits {
	/** An agent's clock jumps past every lease time; its watches are alive after it. */
	readonly agentJumps: number;
	/** A drain's clock jumps past the time for which a grant is fresh. */
	readonly drainJumps: number;
	/** Somebody whose calls are on their way does nothing for a few seconds: what it waits for is answered late, and its timers are. */
	readonly pauses: number;
	/** An agent's watches show no life any more, until they come back. */
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
	/** Agents that die and come back with nothing in memory. */
	readonly restarts: number;
	/** Cancels that an agent begins, of any reservation and however young. */
	readonly cancels: number;
	/** Times that an agent ends reservations on evidence of its own accord. */
	readonly evidence: number;
	readonly sweeps: number;
	/** Pods that somebody deletes past the budgets, or that fail. */
	readonly failures: number;
	/** Pods that finish, as the pods of Jobs do, and others that fail for good. */
	readonly finishes: number;
	/** Writes to pods that mean nothing but a new version. */
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
	/** In the place of the scenario's own. */
	readonly limits: Partial<Limits>;
	/** In the place of the scenario's own. */
	readonly drains?: readonly DrainData[];
	readonly events?: readonly EventData<W>[];
	readonly freshViews?: boolean;
	/** Only the schedules that the scenario does not hold back; otherwise all, held back or not. */
	readonly isStaged?: boolean;
	/**
	 * Calls to Leases are executed at once, so that acquire, commit, confirm and release each happen in one step: right
	 * where a cluster has one agent, which does one thing after the other with a Lease anyway.
	 */
	readonly leaseCallsAtOnce?: boolean;
}

/** `W` is the world in which its events happen; who lets none happen needs not know it. */
export interface Scenario<W = never> {
	readonly name: string;
	/** One sentence: what can go wrong here. */
	readonly about: string;
	readonly clusters: readonly ClusterData[];
	readonly drains: readonly DrainData[];
	readonly events?: readonly EventData<W>[];
	readonly limits: Partial<Limits>;
	/** Where budgets, scales or the fleet change while rounds run, their reads take part in the schedule. */
	readonly configChanges?: boolean;
	/** Leases that have been used before: most of the time in a Lease's life. False: the first round makes them. */
	readonly leasesExist?: boolean;
	/** All agents of a cluster but the first pass an acquire on to the first one's line. */
	readonly lineHost?: boolean;
	/** What becomes of evicted pods while the rounds run: they end and are replaced, they only end, or they stay terminating. */
	readonly afterEviction?: "replaced" | "ends" | "stays";
	/** Answers travel on their own in every run. */
	readonly splitAnswers?: boolean;
	/** Views are shown every event at once. */
	readonly freshViews?: boolean;
	/** Whether a round must be granted at the end; false where the budget refuses for ever. */
	readonly probe?: boolean;
	/** What happened before the drains began. */
	readonly prepare?: (world: W) => void;
	/** Which faults may meet which requests; all of them where it says nothing. */
	readonly mayFail?: (fault: string, what: string) => boolean;
	/** The network fails only requests that begin with this word: "evict", "acquire". */
	readonly onlyFails?: string;
	/**
	 * Steps that wait for their moment, so that most runs come to what the scenario is about; they are taken all the same
	 * where nothing but time could pass otherwise. Its limits hold in every run, where other scenarios draw theirs.
	 */
	readonly holdsBack?: (step: Step, world: W) => boolean;
	/** Some of its runs have rounds without the engine of evictions, which would refuse before a round could go wrong. */
	readonly hasThinRuns?: boolean;
	/** Agents keep in mind whom they took for members, and greet each other; where no fleet changes without a word of a person, all is the same without. */
	readonly knowsMembers?: boolean;
	/** etcd may come back from a backup. */
	readonly isRestored?: boolean;
	/** Whether all holds are written in all of its runs, or in none; left out: in half of the random ones, and in an exhaustive search. */
	readonly writtenHolds?: boolean;
	/** Calls to Leases are executed at once in random runs, too. */
	readonly leaseCallsAtOnce?: boolean;
	/** Calls go over the wire in all of its runs; left out: in a share of the random ones, or none where it is staged. */
	readonly isWired?: boolean;
	/** Agents run the shipped watches over streams in all of its runs; left out: in a share of the random ones, or none where it is staged. */
	readonly isStreamed?: boolean;
	/** Whether API servers still have streamed lists once the run has begun; left out: in half of the streamed runs. */
	readonly streamsLists?: boolean;
	/** How an exhaustive search bounds it. */
	readonly search?: SearchBounds<W>;
}
