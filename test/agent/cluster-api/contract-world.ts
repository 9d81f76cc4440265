import type { ClusterApi } from "../../../agent/cluster-api/cluster-api.ts";
import type { BudgetName } from "../../../disruption/budget/budget.ts";
import type { PodReference } from "../../../disruption/budget/cluster.ts";
import type { DeclaredFleet } from "../../../disruption/budget/fleet.ts";
import type { ControllerReference } from "../../../disruption/budget/pod.ts";

/** Kinds that a world can create. "Rocket" has a scale subresource, "Rock" has none, and neither is Kubernetes' own. */
export type ContractKind =
	| "ReplicaSet"
	| "Deployment"
	| "StatefulSet"
	| "ReplicationController"
	| "DaemonSet"
	| "Job"
	| "Rocket"
	| "Rock";

/** One cluster as its users see it, with the ClusterApi that reads it. Every method resolves when it is done. */
export interface ContractWorld {
	readonly api: ClusterApi;
	readonly clusterId: string;
	/** A namespace that only this world uses, also for its Leases and its fleet. */
	readonly namespace: string;
	/** Creates a pod that nothing else touches. It is never ready and never scheduled. */
	createPod(pod: {
		readonly name: string;
		readonly labels?: Readonly<Record<string, string>>;
		readonly annotations?: Readonly<Record<string, string>>;
		readonly controller?: ControllerReference;
	}): Promise<PodReference>;
	/** Removes the pod at once. */
	removePod(pod: PodReference): Promise<void>;
	/** Makes the pod terminate without end. */
	terminatePod(pod: PodReference): Promise<void>;
	annotationsOf(pod: PodReference): Promise<Readonly<Record<string, string>>>;
	createController(controller: {
		readonly kind: ContractKind;
		readonly name: string;
		readonly replicas: number;
		readonly ownedBy?: ControllerReference;
	}): Promise<ControllerReference>;
	scaleController(controller: ControllerReference, replicas: number): Promise<void>;
	removeController(controller: ControllerReference): Promise<void>;
	createBudget(budget: BudgetName, spec: unknown): Promise<void>;
	removeBudget(budget: BudgetName): Promise<void>;
	/** Undefined removes the declaration. */
	declareFleet(fleet: DeclaredFleet | undefined): Promise<void>;
	close(): Promise<void>;
}
