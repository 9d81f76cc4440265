// What the round asks of one cluster of the fleet. Types only: the agent answers these questions from its own API
// server, a gRPC client answers them from an agent elsewhere, and the exploration answers them from a simulated one.
import type { BudgetName, LabelSelector } from "./budget.ts";
import type { ControllerReference } from "./pod.ts";
import type { PodStatus } from "./pod-status.ts";

/** One pod, as the person or controller who asked for its disruption named it; `uid` decides, never the name alone. */
export interface PodReference {
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
}

/**
 * One holding of one budget's Lease. All three parts are compared: a Lease that was deleted and made again restarts
 * its transitions, and a late double of an acquire must not revive a holding that was lost.
 */
export interface Acquisition {
	readonly budget: BudgetName;
	readonly leaseUid: string;
	readonly leaseTransitions: number;
	readonly nonce: string;
	/** The last count under it, new for each; left out where that is the one that came with it. */
	readonly countId?: string;
	/** Left out where the Lease was written. */
	readonly unwritten?: UnwrittenHold;
}

/**
 * An acquisition that was never written: it keeps no other round away from the Lease, and only the commit shows whether
 * another round came in between. It stands only in the agent that was asked for it, and only if the Lease is still exactly
 * the one that was read, the connection to the API server is still the one that it was counted over, and the cluster, after
 * the commit's own write, has no fewer healthy pods than were counted.
 */
export interface UnwrittenHold {
	readonly holder: string;
	/**
	 * Identifies the Lease as it was read before the count, to the agents of its cluster: leaseFingerprint, or the id under
	 * which the agent that was asked remembers it (agent/leases/optimistic-holds.ts).
	 */
	readonly lease: string;
	readonly selector: LabelSelector;
	/** As counted. */
	readonly healthy: number;
}

/** Asks for a budget's Lease and, in the same answer, for the count. `nonce` is new for every attempt. */
export interface AcquireRequest {
	readonly budget: BudgetName;
	/** The selector the round counts with; members whose own budget says otherwise are found out by `decide`. */
	readonly selector: LabelSelector;
	readonly holder: string;
	readonly nonce: string;
	/** Pods of this very cluster for which the round would like a grant. */
	readonly candidates: readonly PodReference[];
	/** The caller knows of unwritten holds, and nobody was in its way yet. */
	readonly mayBeUnwritten?: boolean;
}

/** How an acquire waits: at once (`wait` false) or in the fair line, until `signal` aborts. */
export interface AcquireOptions {
	readonly wait: boolean;
	readonly signal: AbortSignal;
	readonly onQueued?: (place: PlaceInLine) => void;
	/** Resolves once the caller was sent the answer, where it is not here: from then on it has to show life. */
	readonly answered?: Promise<void>;
}

/** Where a waiting caller stands: 1 is next. `holder` is empty where nobody holds the Lease at this instant. */
export interface PlaceInLine {
	readonly position: number;
	readonly holder: string;
	/** Milliseconds since the agent first saw that holding. */
	readonly heldForMs: number;
}

export type AcquireOutcome =
	| {
			readonly kind: "acquired";
			readonly acquisition: Acquisition;
			readonly count: Count;
			/**
			 * How long the holding lasts from this answer on without a renewal. Shorter for a Lease that was handed over in
			 * line, because its new holder may have died while it waited, and after a slow count.
			 */
			readonly leaseDurationMs: number;
	  }
	| ({ readonly kind: "held" } & PlaceInLine);

/**
 * A budget as one member has it. `spec` is what the object says, unparsed: whoever decides reads it with the one strict
 * parser, so that a budget which somebody cannot understand refuses by name and is never read as "no budget".
 */
export interface MemberBudget {
	readonly name: BudgetName;
	readonly spec: unknown;
	/** The annotation of suspension.ts, unparsed, for people; old agents do not tell it. */
	readonly suspension?: string;
}

/** Expected pods of one cluster, or why they cannot be had (an owner without scale): only a bound that needs them refuses. */
export type ExpectedPods =
	| { readonly kind: "known"; readonly pods: number }
	/**
	 * `settles`: it will be known in a moment, without any action. `cause`: the name of the reason, unless the reason is an
	 * owner that reports no number.
	 */
	| {
			readonly kind: "unknown";
			readonly reason: string;
			readonly settles?: boolean;
			readonly cause?: (typeof unknownCauses)[number];
	  };

/** Named reasons why the number of expected pods is unknown. WorkloadsNotListed: the agent may not list workloads. */
export const unknownCauses = ["WorkloadsNotListed"] as const;

/** What a pod's own cluster says of a candidate. */
export type CandidateState =
	| { readonly kind: "gone"; readonly pod: PodReference }
	/** Terminating or finished: nothing can make it healthy again, its disruption costs nothing. */
	| { readonly kind: "free"; readonly pod: PodReference; readonly why: "Terminating" | "Finished" }
	/** The cluster's view has not seen this pod yet. */
	| { readonly kind: "unseen"; readonly pod: PodReference }
	| {
			readonly kind: "present";
			readonly pod: PodReference;
			readonly healthy: boolean;
			readonly resourceVersion: string;
			/** Somebody keeps changing it without any effect on the count, heartbeats in annotations for instance: how often. */
			readonly changesEveryMs?: number;
			readonly labels: Readonly<Record<string, string>>;
			/** Who says how many pods like this one there should be; none where nobody does. */
			readonly controller?: ControllerReference;
			/**
			 * Why nobody says so: no controller, or one that is gone. The pod counts as one expected pod, so that every
			 * eviction of its like would lower what is expected: bounds that need the number keep it.
			 */
			readonly unexpected?: string;
			/** Granted already, to whom and when (seconds since the epoch): nobody else may use that reservation. */
			readonly reservedBy?: { readonly holder: string; readonly sinceSeconds: number };
			/** Names of pre-activities that hold this pod back (annotation `pre-activity.xpdb.form3.tech/NAME`). */
			readonly preActivities: readonly string[];
	  };

/** A pod that the budget counts as unavailable now, for people: who uses the budget up. */
export interface UnavailablePod extends PodStatus {
	readonly namespace: string;
	readonly name: string;
	readonly why: "Reserved" | "Terminating" | "NotReady";
	/** Who was granted it, as they call themselves, where that is known. */
	readonly holder?: string;
	/** The verified user behind that, where the agent knows. */
	readonly account?: string;
}

/** Of the pods of one budget in one cluster that are not available: with as many, nobody knows how many more there are. */
export const mostUnavailableTold = 20;

/**
 * A workload that a budget expects by its pod template, although some of its pods carry other labels: it uses up the budget
 * until a user changes the labels or the template.
 */
export interface MislabelledWorkload {
	readonly kind: string;
	readonly namespace: string;
	readonly name: string;
	readonly wants: number;
	/** How many of its pods the budget does not select. */
	readonly others: number;
}

/** One cluster's part of the global count, taken after the acquisition that it belongs to. */
export interface Count {
	readonly clusterId: string;
	readonly clusterName: string;
	/** Hash over the sorted ids of the fleet's members as this cluster declares them. */
	readonly fleetHash: string;
	/** Names of the budget features that this agent understands. */
	readonly features: readonly string[];
	/** All budgets of the budget's namespace in this cluster, the counted one among them where it exists here. */
	readonly budgets: readonly MemberBudget[];
	readonly expected: ExpectedPods;
	readonly healthy: number;
	readonly candidates: readonly CandidateState[];
	/** At most `mostUnavailableTold`, those with a holder first. */
	readonly unavailable: readonly UnavailablePod[];
	/** For people; at most `mostUnavailableTold`. Older agents do not report them. */
	readonly mislabelled?: readonly MislabelledWorkload[];
}

/** What a commit writes for one pod: from then on it counts as unavailable until its reservation ends. */
export interface Grant {
	/** Random and never shown: who names it may evict the pod. */
	readonly id: string;
	readonly pod: PodReference;
	readonly resourceVersion: string;
	readonly controller?: ControllerReference;
}

/** A grant that got no reservation, because the agent of the pod's own cluster knows better. */
export interface LeftOut {
	readonly uid: string;
	/** Gone: its view has come to the grant's version, and has no such pod. NotCovered: the budget does not select its labels. */
	readonly why: "Gone" | "NotCovered";
}

export type CommitOutcome =
	/** `leftOut`: these got no reservation, and all others did. */
	| { readonly kind: "stood"; readonly leftOut?: readonly LeftOut[] }
	/**
	 * The acquisition was broken before the write: nothing was written. Or an unwritten one did not rest on what was counted any
	 * more: what was written is taken back as for any other commit that did not stand.
	 */
	| { readonly kind: "lost"; readonly reason: string }
	/** The Lease has no room for more reservations: nothing was written, the Lease is still held. */
	| { readonly kind: "full"; readonly reservations: number; readonly controllers?: number };

/**
 * One member of the fleet. Every method rejects with AgentUnavailableError where no answer could be had, and with
 * LeaseLostError where the acquisition it names does not stand any more.
 */
export interface Cluster {
	readonly id: string;
	/** For people only. */
	readonly name: string;
	acquire(request: AcquireRequest, options: AcquireOptions): Promise<AcquireOutcome>;
	/** Counts again under an acquisition that still stands. */
	count(acquisition: Acquisition, request: AcquireRequest): Promise<Count>;
	renew(acquisition: Acquisition): Promise<void>;
	/**
	 * Adds the reservations and releases, in one conditional write; idempotent for one acquisition. The agent checks the
	 * grants against its own view first, and rejects where that does not come to their versions.
	 */
	commit(acquisition: Acquisition, grants: readonly Grant[]): Promise<CommitOutcome>;
	/** Gives the Lease back; nothing happens where the acquisition is lost already. */
	release(acquisition: Acquisition): Promise<void>;
	/** Whether all these reservations stand unmarked in the budget's Lease, by a read made after the call. */
	confirm(budget: BudgetName, ids: readonly string[]): Promise<boolean>;
	/**
	 * Ends reservations by id. `sent` false (no eviction was ever sent) removes them at once; true goes the long way
	 * of mark, touch and read, because a request may still be on its way.
	 */
	cancel(budget: BudgetName, ids: readonly string[], options: { readonly sent: boolean }): Promise<void>;
}

export interface LookRequest extends Pick<AcquireRequest, "budget" | "selector" | "candidates"> {
	/** No other budgets are told than this one; agents that do not know it yet tell all of the namespace. */
	readonly thisBudgetAlone?: boolean;
}

/** A member that also counts for those who hold nothing. */
export interface Member extends Cluster {
	/** A count without an acquisition: a hint, on which no decision may rest. */
	look(request: LookRequest): Promise<Count>;
}
