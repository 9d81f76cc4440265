// Describes the agent's requests to its own API server. create-cluster-api.ts sends them to a real API server,
// test/explore/simulated-api.ts to a simulated one. Both pass the same contract tests.
import { BoundedError } from "../../disruption/bounded-error.ts";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget, PodReference } from "../../disruption/budget/cluster.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { LabelSelector } from "../../disruption/budget/selector.ts";
import type { ControllerReference, PodRecord } from "../../disruption/budget/pod.ts";
import type { ScaleAnswer } from "./scale-answer.ts";
import type { WorkloadRecord } from "./workload-record.ts";

/** Another write or deletion came first (409 Conflict or AlreadyExists, or 404): read again before judging. */
export class ConflictError extends BoundedError {
	override readonly name = "ConflictError";
	readonly reason = "Conflict";
}

/** Names a controller, whatever its uid. */
export type ControllerName = Omit<ControllerReference, "uid">;

export type PodRead = { readonly kind: "gone" } | { readonly kind: "present"; readonly pod: PodRecord };

/** The pod's new version, or that no pod with this uid exists any more. */
export type TouchAnswer = { readonly kind: "touched"; readonly resourceVersion: string } | { readonly kind: "gone" };

/**
 * Unless a comment says otherwise, requests reject with AgentUnavailableError (API server not reachable, 5xx, 429, no permission). Requests
 * for Leases also reject with GarbledLeaseError if a Lease cannot be read. "Consistent" means: at least as new as the moment of the call.
 */
export interface ClusterApi {
	/** UID of the kube-system namespace. */
	readonly clusterId: string;
	/**
	 * The number of the connection that a request sent now would use; undefined if none is open. While the number stays the same, no
	 * request has gone to a restarted API server.
	 */
	connection(): number | undefined;
	/** Consistent GET by name; undefined if it does not exist. */
	getLease(name: string): Promise<LeaseObject | undefined>;
	/** Rejects with ConflictError if it already exists. */
	createLease(lease: Omit<LeaseObject, "uid" | "resourceVersion">): Promise<LeaseObject>;
	/** PUT with the uid and resourceVersion that were read; rejects with ConflictError if it was changed or deleted. */
	updateLease(lease: LeaseObject): Promise<LeaseObject>;
	/** DELETE with preconditions uid and resourceVersion; rejects with ConflictError if it was changed or deleted. */
	deleteLease(lease: LeaseObject): Promise<void>;
	/**
	 * Returns all Leases of agents for a budget namespace: at least as new as `notOlderThan` (a Lease's resourceVersion), or by a
	 * consistent LIST if that is "".
	 */
	listLeases(options: {
		readonly budgetNamespace: string;
		readonly notOlderThan: string;
	}): Promise<readonly LeaseObject[]>;
	/** Consistent GET of one budget; undefined if it does not exist. */
	getBudget(budget: BudgetName): Promise<MemberBudget | undefined>;
	/** Consistent LIST of a namespace, or of all namespaces. */
	listBudgets(namespace?: string): Promise<readonly MemberBudget[]>;
	/** Consistent GET of the fleet's ConfigMap. Rejects if its Lease namespace (by default, its own) is not the one that this agent uses. */
	getFleet(): Promise<DeclaredFleet>;
	/** Consistent GET by namespace and name. The pod found may have another uid. */
	getPod(pod: Pick<PodReference, "namespace" | "name">): Promise<PodRead>;
	/** Consistent LIST of the pods of a namespace that a selector selects, with the list's resourceVersion. */
	listSelectedPods(
		namespace: string,
		selector: LabelSelector,
	): Promise<{ readonly pods: readonly PodRecord[]; readonly resourceVersion: string }>;
	/**
	 * Sets the condition `xpdb.form3.tech/ReservationCancelled` through pods/status, naming the pod's uid. The value must be new, so that
	 * the pod's resourceVersion changes and a late eviction gets a 409.
	 */
	touchPod(pod: PodReference, value: string): Promise<TouchAnswer>;
	/** Sets `xpdb.form3.tech/has-pending-disruption: "true"` on the pod, so that its pre-activities can see it. */
	markPendingDisruption(pod: PodReference): Promise<void>;
	/**
	 * Consistent LISTs of a namespace's workloads of Kubernetes' own kinds. Rejects with MissingRightError if the agent may not list them.
	 */
	listWorkloads(namespace: string): Promise<readonly WorkloadRecord[]>;
	/** Reads by name how many pods a controller wants, and which controller owns it. */
	getScale(controller: ControllerName, namespace: string): Promise<ScaleAnswer>;
}
