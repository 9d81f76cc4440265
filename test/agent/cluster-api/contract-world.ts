import type { ClusterApi } from "../../../agent/cluster-api/cluster-api.ts";
import type { BudgetName } from "../../../disruption/budget/budget.ts";
import type { PodReference } from "../../../disruption/budget/cluster.ts";
import type { DeclaredFleet } from "../../../disruption/budget/fleet.ts";
import type { ControllerReference } from "../../../disruption/budget/pod.ts";

/** The kinds that a world can create. "Rocket" has a scale subresource and "Rock" has none. Both are custom kinds. */
export type ContractKind =
	| "ReplicaSet"
	| "Deployment"
	| "StatefulSet"
	| "ReplicationController"
	| "DaemonSet"
	| "Job"
	| "Rocket"
	| "Rock";

/** One cluster, with the ClusterApi under test. */
export interface ContractWorld {
	readonly api: ClusterApi;
	readonly clusterId: string;
	/** A namespace for this world alone, also for its Leases and its fleet. */
	readonly namespace: string;
	/** Creates a pod that only the test changes. It is never scheduled and never ready. */
	createPod(pod: {
		readonly name: string;
		readonly labels?: Readonly<Record<string, string>>;
		readonly annotations?: Readonly<Record<string, string>>;
		readonly controller?: ControllerReference;
	}): Promise<PodReference>;
	removePod(pod: PodReference): Promise<void>;
	/** Makes the pod terminate but never end. */
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
