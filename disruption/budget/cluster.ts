// The requests of a round to one cluster of the fleet. Types only. An agent answers from its own API server, a gRPC client forwards the
// requests to an agent elsewhere, and the exploration runs agents over simulated API servers.
import type { BudgetName, LabelSelector } from "./budget.ts";
import type { ControllerReference } from "./pod.ts";
import type { PodStatus } from "./pod-status.ts";

/** One pod, as named by the person or controller that wants to disrupt it. `uid` decides, never the name alone. */
export interface PodReference {
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
}

/**
 * One hold of one budget's Lease. The Lease's uid, its transitions and the nonce are all compared. A Lease that was deleted and created
 * again restarts its transitions, and a late duplicate of an acquire must not revive a hold that was lost.
 */
export interface Acquisition {
	readonly budget: BudgetName;
	readonly leaseUid: string;
	readonly leaseTransitions: number;
	readonly nonce: string;
	/** The id of the last count under this acquisition, new for each. Left out for the count that came with the acquisition. */
	readonly countId?: string;
	/** Left out if the acquisition is written in the Lease. */
	readonly unwritten?: UnwrittenHold;
}

/**
 * An optimistic hold: an acquisition that was never written. It excludes no other round from the Lease, and only the commit detects whether
 * another round came in between. It stands only in the agent that was asked for it, and only if three things hold. The Lease is still
 * exactly the one that was read. The connection to the API server is still the one used for the count. After the commit's own write, the
 * cluster has no fewer healthy pods than were counted.
 */
export interface UnwrittenHold {
	readonly holder: string;
	/**
	 * Identifies the Lease as it was read before the count, to the agents of its cluster. It is a leaseFingerprint, or the id under which
	 * the asked agent remembers the hold (agent/leases/optimistic-holds.ts).
	 */
	readonly lease: string;
	readonly selector: LabelSelector;
	/** The healthy pods of the count. */
	readonly healthy: number;
}

/** Requests a budget's Lease and, in the same answer, the count. `nonce` is new for every attempt. */
export interface AcquireRequest {
	readonly budget: BudgetName;
	/** The selector that the round counts with. `decide` grants nothing if a member's own budget has another one. */
	readonly selector: LabelSelector;
	readonly holder: string;
	readonly nonce: string;
	/** Pods of this very cluster for which the round requests a grant. */
	readonly candidates: readonly PodReference[];
	/** The caller supports optimistic holds, and no other run has been in its way yet. */
	readonly mayBeUnwritten?: boolean;
}

/** How an acquire waits: not at all (`wait` false), or in the fair line until `signal` aborts. */
export interface AcquireOptions {
	readonly wait: boolean;
	readonly signal: AbortSignal;
	readonly onQueued?: (place: PlaceInLine) => void;
	/** Set only if the caller is another process. Resolves once the answer was sent to it. From then on, the caller has to show life. */
	readonly answered?: Promise<void>;
}

/** The place of a waiting caller: 1 is next. `holder` is empty if the Lease has no holder at this instant. */
export interface PlaceInLine {
	readonly position: number;
	readonly holder: string;
	/** Milliseconds since the agent first saw this hold. */
	readonly heldForMs: number;
}

export type AcquireOutcome =
	| {
			readonly kind: "acquired";
			readonly acquisition: Acquisition;
			readonly count: Count;
			/**
			 * How long a written hold lasts after this answer without a renewal, in milliseconds. It is shorter after a slow count. It is
			 * also shorter for a Lease that was handed over in line, because its new holder may have died during the wait.
			 */
			readonly leaseDurationMs: number;
	  }
	| ({ readonly kind: "held" } & PlaceInLine);

/**
 * A budget as one member has it. `spec` is the object's spec, unparsed. All code that decides reads it with the one strict parser. So a
 * budget that cannot be understood is refused by name, and never read as a missing budget.
 */
export interface MemberBudget {
	readonly name: BudgetName;
	readonly spec: unknown;
	/** The annotation of suspension.ts, unparsed, for people. Older agents do not report it. */
	readonly suspension?: string;
}

/**
 * The expected pods of one cluster, or why the number is unknown (for example an owner without scale). An unknown number matters only to a
 * bound that needs it, which then refuses.
 */
export type ExpectedPods =
	| { readonly kind: "known"; readonly pods: number }
	/** `settles`: the number will be known in a moment, without any action. `cause`: the name of the reason, if it has one. */
	| {
			readonly kind: "unknown";
			readonly reason: string;
			readonly settles?: boolean;
			readonly cause?: (typeof unknownCauses)[number];
	  };

/** Named reasons why the number of expected pods is unknown. WorkloadsNotListed: the agent may not list workloads. */
export const unknownCauses = ["WorkloadsNotListed"] as const;

/** The state of a candidate, as its own cluster reports it. */
export type CandidateState =
	| { readonly kind: "gone"; readonly pod: PodReference }
	/** Terminating or finished: nothing can make the pod healthy again, so its disruption costs nothing. */
	| { readonly kind: "free"; readonly pod: PodReference; readonly why: "Terminating" | "Finished" }
	/** The cluster's view has not seen this pod yet. */
	| { readonly kind: "unseen"; readonly pod: PodReference }
	| {
			readonly kind: "present";
			readonly pod: PodReference;
			readonly healthy: boolean;
			readonly resourceVersion: string;
			/**
			 * The time between two changes of the pod, if something keeps changing it without any effect on the count. Heartbeats in
			 * annotations are an example.
			 */
			readonly changesEveryMs?: number;
			readonly labels: Readonly<Record<string, string>>;
			/** The controller that says how many such pods there should be, if there is one. */
			readonly controller?: ControllerReference;
			/**
			 * Why no controller says so: the pod has no controller, or its controller is gone. The pod then counts as one expected pod.
			 * Every eviction of such a pod would lower the number of expected pods, so bounds that need that number never grant it.
			 */
			readonly unexpected?: string;
			/** The holder that was granted the pod, and since when (seconds since the epoch). No other run may use that reservation. */
			readonly reservedBy?: { readonly holder: string; readonly sinceSeconds: number };
			/** Names of the pre-activities that this pod has to wait for (annotation `pre-activity.xpdb.form3.tech/NAME`). */
			readonly preActivities: readonly string[];
	  };

/** A pod that the budget counts as unavailable now. It shows people what uses up the budget. */
export interface UnavailablePod extends PodStatus {
	readonly namespace: string;
	readonly name: string;
	readonly why: "Reserved" | "Terminating" | "NotReady";
	/** The holder that was granted the pod, as it calls itself, if known. */
	readonly holder?: string;
	/** The verified user behind that holder, if the agent knows it. */
	readonly account?: string;
}

/** The most unavailable pods of one budget that one cluster reports. If it reports exactly this many, there may be more. */
export const mostUnavailableTold = 20;

/**
 * A workload that a budget expects by its pod template, although some of its pods have other labels. These pods never count as healthy, so
 * they use up the budget until a user changes the labels, the template or the scale.
 */
export interface MislabelledWorkload {
	readonly kind: string;
	readonly namespace: string;
	readonly name: string;
	readonly wants: number;
	/** How many of its pods the budget does not select. */
	readonly others: number;
}

/** One cluster's part of the global count. It was taken after the acquisition that it belongs to, or without one for a look. */
export interface Count {
	readonly clusterId: string;
	readonly clusterName: string;
	/** Hash over the sorted ids of the fleet's members as this cluster declares them. */
	readonly fleetHash: string;
	/** Names of the budget features that this agent understands. */
	readonly features: readonly string[];
	/**
	 * All budgets of the budget's namespace in this cluster, including the counted one if it exists here. A look with `thisBudgetAlone`
	 * reports only that one.
	 */
	readonly budgets: readonly MemberBudget[];
	readonly expected: ExpectedPods;
	readonly healthy: number;
	readonly candidates: readonly CandidateState[];
	/** At most `mostUnavailableTold`. Pods with a holder come first. */
	readonly unavailable: readonly UnavailablePod[];
	/** For people; at most `mostUnavailableTold`. Older agents do not report them. */
	readonly mislabelled?: readonly MislabelledWorkload[];
}

/** What a commit writes for one pod. From then on the pod counts as unavailable until its reservation ends. */
export interface Grant {
	/** Random and never shown: with it, anyone can use this grant. */
	readonly id: string;
	readonly pod: PodReference;
	readonly resourceVersion: string;
	readonly controller?: ControllerReference;
}

/** A grant that got no reservation, because its pod's own agent sees that the pod is gone or not covered. */
export interface LeftOut {
	readonly uid: string;
	/**
	 * Gone: the agent's view has reached the grant's version and has no such pod, or the reservation of a repeated commit has ended since.
	 * NotCovered: the budget does not select the pod's labels.
	 */
	readonly why: "Gone" | "NotCovered";
}

export type CommitOutcome =
	/** `leftOut` got no reservation. All other grants did. */
	| { readonly kind: "stood"; readonly leftOut?: readonly LeftOut[] }
	/**
	 * The acquisition was broken before the write, so nothing was written. For an optimistic hold it can also mean that the counted state
	 * no longer held at the write. Then what was written is taken back, as for any other commit that did not stand.
	 */
	| { readonly kind: "lost"; readonly reason: string }
	/** The Lease has no room for more reservations. Nothing was written, so a written hold still stands. */
	| { readonly kind: "full"; readonly reservations: number; readonly controllers?: number };

/**
 * One member of the fleet. Every method rejects with AgentUnavailableError if there is no answer. `count` and `renew` reject with
 * LeaseLostError if their acquisition no longer stands.
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
	 * Adds the reservations and releases the Lease in one conditional write. Idempotent for one acquisition. The agent first checks the
	 * grants against its own view, and rejects if that view does not reach their versions.
	 */
	commit(acquisition: Acquisition, grants: readonly Grant[]): Promise<CommitOutcome>;
	/** Releases the Lease. Does nothing if the acquisition is already lost. */
	release(acquisition: Acquisition): Promise<void>;
	/** Whether all these reservations stand unmarked in the budget's Lease, by a read that began after the call. */
	confirm(budget: BudgetName, ids: readonly string[]): Promise<boolean>;
	/**
	 * Ends reservations by id. With `sent` false (no eviction was ever sent) it removes them immediately. With `sent` true it uses the
	 * fence (mark, touch, read, remove), because a request may still be on its way.
	 */
	cancel(budget: BudgetName, ids: readonly string[], options: { readonly sent: boolean }): Promise<void>;
}

export interface LookRequest extends Pick<AcquireRequest, "budget" | "selector" | "candidates"> {
	/** Report only this budget. Agents that do not support this option report all budgets of the namespace. */
	readonly thisBudgetAlone?: boolean;
}

/** A member that also counts for callers without an acquisition. */
export interface Member extends Cluster {
	/** Counts without an acquisition. The result is a hint, on which no decision may rest. */
	look(request: LookRequest): Promise<Count>;
}
