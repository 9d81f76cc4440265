// What the agent asks of its own API server. agent/cluster-api/create-cluster-api.ts asks a real one; the exploration has a small true one
// with resourceVersions and conflicts; both pass the same contract tests.
import { BoundedError } from "../../disruption/bounded-error.ts";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget, PodReference } from "../../disruption/budget/cluster.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import type { WorkloadRecord } from "./workload-record.ts";

/** The write lost against another one (409 Conflict or AlreadyExists): read again before judging. */
export class ConflictError extends BoundedError {
	override readonly name = "ConflictError";
	readonly reason = "Conflict";
}

/** Whoever has this name now. */
export type ControllerName = Omit<ControllerReference, "uid">;

/** How many pods a controller wants, or why that cannot be said. */
export type ScaleAnswer =
	/** `uid`: of whoever has the name now. `ownedBy`: its own controller (a ReplicaSet's Deployment), which then decides instead. */
	| {
			readonly kind: "replicas";
			readonly replicas: number;
			readonly uid: string;
			readonly ownedBy?: ControllerReference;
	  }
	/** A DaemonSet that was changed, and whose controller has not said since how many nodes it is for. */
	| { readonly kind: "unsettled"; readonly uid: string }
	/**
	 * A custom resource whose scale says no number, or whose API gives none now. `why` names the field or the answer; `passes`: it
	 * may be known in a moment, without any action on the resource.
	 */
	| { readonly kind: "unstated"; readonly why: string; readonly passes: boolean }
	/** Nobody has the name (404), or no served version of the group has the kind. */
	| { readonly kind: "gone" }
	/** The resource exists but has no scale subresource (a Job). */
	| { readonly kind: "withoutScale" };

/** What a pod is right now, read from etcd and not from a cache. */
export type PodRead = { readonly kind: "gone" } | { readonly kind: "present"; readonly pod: PodRecord };

/** What a touch did: the version the pod has now, or that there is no pod of that uid any more (with what was found). */
export type TouchAnswer = { readonly kind: "touched"; readonly resourceVersion: string } | { readonly kind: "gone" };

/**
 * Every method rejects with AgentUnavailableError (API server not reachable, 5xx, 429, no right) except where a value
 * says otherwise; none answers from a guess. "Consistent" means: at least as new as the moment of the call.
 */
export interface ClusterApi {
	/** UID of the kube-system namespace. */
	readonly clusterId: string;
	/**
	 * The connection that carries a request that is sent before anything else happens; undefined if none is open yet. While it
	 * is the same, no request has gone to a restarted API server.
	 */
	connection(): number | undefined;
	/** Consistent GET by name; undefined where there is none. */
	getLease(name: string): Promise<LeaseObject | undefined>;
	/** Rejects with ConflictError where it exists already. */
	createLease(lease: Omit<LeaseObject, "uid" | "resourceVersion">): Promise<LeaseObject>;
	/** PUT with the uid and resourceVersion that were read; rejects with ConflictError where it moved or is gone. */
	updateLease(lease: LeaseObject): Promise<LeaseObject>;
	/** DELETE with preconditions uid and resourceVersion; rejects with ConflictError where it moved. */
	deleteLease(lease: LeaseObject): Promise<void>;
	/** All of our Leases for a budget namespace, at least as new as `notOlderThan` (a Lease's resourceVersion). */
	listLeases(options: {
		readonly budgetNamespace: string;
		readonly notOlderThan: string;
	}): Promise<readonly LeaseObject[]>;
	/** Consistent GET of one budget; undefined where there is none. */
	getBudget(budget: BudgetName): Promise<MemberBudget | undefined>;
	/** Consistent LIST; no namespace: all of them. */
	listBudgets(namespace?: string): Promise<readonly MemberBudget[]>;
	/** Consistent GET of ConfigMap `xpdb-fleet`; rejects where it keeps Leases in another namespace than this agent. */
	getFleet(): Promise<DeclaredFleet>;
	/** Consistent GET by namespace and name: the answer may have another uid. */
	getPod(pod: Pick<PodReference, "namespace" | "name">): Promise<PodRead>;
	/** Consistent LIST of all pods, with the list's resourceVersion. */
	listPods(): Promise<{ readonly pods: readonly PodRecord[]; readonly resourceVersion: string }>;
	/**
	 * Sets the condition `xpdb.form3.tech/ReservationCancelled` through pods/status, naming the pod's uid, with a value
	 * that was never used before, so that the pod's resourceVersion moves and a late eviction gets a 409.
	 */
	touchPod(pod: PodReference, value: string): Promise<TouchAnswer>;
	/** Sets `xpdb.form3.tech/has-pending-disruption: "true"` on the pod, for its pre-activities to see. */
	markPendingDisruption(pod: PodReference): Promise<void>;
	/** Consistent LISTs of a namespace's workloads of Kubernetes' own kinds; rejects with MissingRightError if the agent may not list them. */
	listWorkloads(namespace: string): Promise<readonly WorkloadRecord[]>;
	/** GET by name of how many pods a controller wants, and of who controls it. */
	getScale(controller: ControllerName, namespace: string): Promise<ScaleAnswer>;
}
