// Types of a round's requests to one cluster. An agent implements them (agent/leases/local-cluster.ts), and so does its gRPC client
// (proto/remote-cluster.ts).
import type { BudgetName, LabelSelector } from "./budget.ts";
import type { ControllerReference } from "./pod.ts";
import type { PodStatus } from "./pod-status.ts";

/** A pod as the caller names it. `uid` decides, never the name alone. */
export interface PodReference {
	readonly namespace: string;
	readonly name: string;
	readonly uid: string;
}

/**
 * One hold of one budget's Lease, identified by the Lease's uid, its transitions and the nonce. All three are needed: a Lease that was
 * deleted and created again restarts its transitions, and a late duplicate of an acquire must not revive a lost hold.
 */
export interface Acquisition {
	readonly budget: BudgetName;
	readonly leaseUid: string;
	readonly leaseTransitions: number;
	readonly nonce: string;
	/** The id of the latest repeated count under this acquisition. Left out while there is only the count that came with it. */
	readonly countId?: string;
	/** Left out if the acquisition is written in the Lease. */
	readonly unwritten?: UnwrittenHold;
}

/**
 * An optimistic hold: an acquisition that was never written. It excludes no other round, and its commit detects whether another round came
 * in between. The hold stands only in the agent that was asked for it, and only if three conditions hold:
 * - The Lease is still exactly the one that was read.
 * - The connection to the API server is still the one used for the count.
 * - After the commit's own write, the cluster has no fewer healthy pods than were counted.
 */
export interface UnwrittenHold {
	readonly holder: string;
	/**
	 * Identifies the Lease as it was read before the count: a leaseFingerprint, or the id under which the asked agent remembers the hold
	 * (agent/leases/optimistic-holds.ts).
	 */
	readonly lease: string;
	readonly selector: LabelSelector;
	readonly healthy: number;
}

/**
 * Requests a budget's Lease and a count under it. A repeated count sends the same request again. `nonce` is new for every attempt to
 * acquire.
 */
export interface AcquireRequest {
	readonly budget: BudgetName;
	/** The selector that the round counts with. decide() grants nothing if a member's own budget has another one. */
	readonly selector: LabelSelector;
	readonly holder: string;
	readonly nonce: string;
	/** Only pods of this cluster. */
	readonly candidates: readonly PodReference[];
	/** Set if the caller supports optimistic holds and has met no other run yet. */
	readonly mayBeUnwritten?: boolean;
}

/** With `wait`, the caller waits in the fair line until it has the Lease or `signal` aborts. */
export interface AcquireOptions {
	readonly wait: boolean;
	readonly signal: AbortSignal;
	readonly onQueued?: (place: PlaceInLine) => void;
	/** Resolves when the answer was sent to the caller, which must then show signs of life. Set only if the caller is another process. */
	readonly answered?: Promise<void>;
}

/**
 * The place of a caller that waits in line, or that it would get: 1 is next. `holder` is empty if the Lease has no holder at this instant.
 */
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
			 * How long a written hold lasts after this answer without a renewal, in milliseconds. It is shorter after a slow count, and for a Lease
			 * that was handed over in line: its new holder may have died while it waited.
			 */
			readonly leaseDurationMs: number;
	  }
	| ({ readonly kind: "held" } & PlaceInLine);

/**
 * A budget as one member has it. `spec` is unparsed, so that a budget that cannot be parsed is refused, and never taken for a missing one.
 */
export interface MemberBudget {
	readonly name: BudgetName;
	readonly spec: unknown;
	/** The unparsed annotation of suspension.ts, for people. Older agents do not report it. */
	readonly suspension?: string;
}

/**
 * The expected pods of one cluster, or why their number is unknown, for example because an owner has no scale. A bound that needs an
 * unknown number refuses.
 */
export type ExpectedPods =
	| { readonly kind: "known"; readonly pods: number }
	/** `settles`: the number may soon be known without any action. `cause`: the name of the reason, if it has one. */
	| {
			readonly kind: "unknown";
			readonly reason: string;
			readonly settles?: boolean;
			readonly cause?: (typeof unknownCauses)[number];
	  };

/** WorkloadsNotListed: the agent has no right to list workloads. */
export const unknownCauses = ["WorkloadsNotListed"] as const;

export type CandidateState =
	| { readonly kind: "gone"; readonly pod: PodReference }
	/** Terminating or finished: nothing can make the pod healthy again, so its disruption costs nothing. */
	| { readonly kind: "free"; readonly pod: PodReference; readonly why: "Terminating" | "Finished" }
	/** The agent's view has not seen this pod yet. */
	| { readonly kind: "unseen"; readonly pod: PodReference }
	| {
			readonly kind: "present";
			readonly pod: PodReference;
			readonly healthy: boolean;
			readonly resourceVersion: string;
			/**
			 * Milliseconds between two changes of the pod, if something keeps changing it without effect on the count, such as heartbeats in
			 * annotations.
			 */
			readonly changesEveryMs?: number;
			readonly labels: Readonly<Record<string, string>>;
			/** The controller that says how many such pods there should be. */
			readonly controller?: ControllerReference;
			/**
			 * Why no controller says how many such pods there should be: the pod has none, or it is gone. The pod then counts as one expected pod.
			 * Its eviction would lower the number of expected pods, so bounds that need this number never grant it.
			 */
			readonly unexpected?: string;
			/** The holder that was granted the pod, and since when (seconds since the epoch). Only that holder may use the reservation. */
			readonly reservedBy?: { readonly holder: string; readonly sinceSeconds: number };
			/** Names of the pre-activities that this pod waits for (annotations `pre-activity.xpdb.form3.tech/NAME`). */
			readonly preActivities: readonly string[];
	  };

/** A pod that the budget counts as unavailable, to show people what uses up the budget. */
export interface UnavailablePod extends PodStatus {
	readonly namespace: string;
	readonly name: string;
	readonly why: "Reserved" | "Terminating" | "NotReady";
	/** The holder that was granted the pod, as it names itself. */
	readonly holder?: string;
	/** The verified user behind that holder, if the agent knows it. */
	readonly account?: string;
}

/** The most unavailable pods that a count lists. If it lists exactly this many, there may be more. */
export const mostUnavailableTold = 20;

/**
 * A workload that a budget expects by its pod template, although some of its pods have other labels. These pods never count as healthy, so
 * they use up the budget until a user changes labels, template or scale.
 */
export interface MislabelledWorkload {
	readonly kind: string;
	readonly namespace: string;
	readonly name: string;
	readonly wants: number;
	/** How many of its pods the budget does not select. */
	readonly others: number;
}

/** One cluster's part of the global count, taken after its acquisition, or without one for a look. */
export interface Count {
	readonly clusterId: string;
	readonly clusterName: string;
	/** fleetHash() of the members that this cluster declares. */
	readonly fleetHash: string;
	/** Names of the budget features that this agent supports. */
	readonly features: readonly string[];
	/** All budgets of the namespace in this cluster. A look with `thisBudgetAlone` reports only the counted one. */
	readonly budgets: readonly MemberBudget[];
	readonly expected: ExpectedPods;
	readonly healthy: number;
	readonly candidates: readonly CandidateState[];
	/** At most `mostUnavailableTold`. Pods with a holder come first. */
	readonly unavailable: readonly UnavailablePod[];
	/** For people, at most `mostUnavailableTold`. Older agents do not report them. */
	readonly mislabelled?: readonly MislabelledWorkload[];
}

/** What a commit writes for one pod. From then on the pod counts as unavailable until its reservation ends. */
export interface Grant {
	/** Random and secret: any caller that knows it can use this grant. */
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
	/** All grants except those in `leftOut` got a reservation. */
	| { readonly kind: "stood"; readonly leftOut?: readonly LeftOut[] }
	/**
	 * The acquisition did not stand before the write, or its count was too old or from another agent, so nothing was written. An optimistic
	 * hold may also be lost after its write, if fewer pods are healthy than were counted. The round then takes its reservations back.
	 */
	| { readonly kind: "lost"; readonly reason: string }
	/** The Lease has no room for more reservations. Nothing was written, so a written hold still stands. */
	| { readonly kind: "full"; readonly reservations: number; readonly controllers?: number };

/**
 * One member of the fleet. Every method rejects with AgentUnavailableError if there is no answer. count() and renew() reject with
 * LeaseLostError if their acquisition no longer stands.
 */
export interface Cluster {
	readonly id: string;
	/** For people only. */
	readonly name: string;
	acquire(request: AcquireRequest, options: AcquireOptions): Promise<AcquireOutcome>;
	count(acquisition: Acquisition, request: AcquireRequest): Promise<Count>;
	renew(acquisition: Acquisition): Promise<void>;
	/**
	 * Adds the reservations and releases the Lease in one conditional write. Idempotent for one acquisition. The agent checks the grants
	 * against its own view first, and rejects if that view does not reach their versions.
	 */
	commit(acquisition: Acquisition, grants: readonly Grant[]): Promise<CommitOutcome>;
	/** Releases the Lease. Does nothing if the acquisition is already lost. */
	release(acquisition: Acquisition): Promise<void>;
	/** Whether the budget's Lease has all these reservations, none of them marked, by a read that began after the call. */
	confirm(budget: BudgetName, ids: readonly string[]): Promise<boolean>;
	/**
	 * Ends reservations by id. Without `sent` (no eviction was ever sent) it removes them immediately. With `sent`, a request may still be on
	 * its way, so it uses the fence (mark, touch, read, remove).
	 */
	cancel(budget: BudgetName, ids: readonly string[], options: { readonly sent: boolean }): Promise<void>;
}

export interface LookRequest extends Pick<AcquireRequest, "budget" | "selector" | "candidates"> {
	/** Reports only this budget. Agents that do not support this option report all budgets of the namespace. */
	readonly thisBudgetAlone?: boolean;
}

export interface Member extends Cluster {
	/** Counts without an acquisition. The result is a hint: no decision may depend on it. */
	look(request: LookRequest): Promise<Count>;
}
