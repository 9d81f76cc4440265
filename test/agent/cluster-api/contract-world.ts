import type { ClusterApi } from "../../../agent/cluster-api/cluster-api.ts";
import type { BudgetName } from "../../../disruption/budget/budget.ts";
import type { PodReference } from "../../../disruption/budget/cluster.ts";
import type { DeclaredFleet } from "../../../disruption/budget/fleet.ts";
import type { ControllerReference } from "../../../disruption/budget/pod.ts";

/** Kinds that a world can make; "Rocket" has a scale subresource and "Rock" has none, neither is Kubernetes' own. */
export type ContractKind =
	| "ReplicaSet"
	| "Deployment"
	| "StatefulSet"
	| "ReplicationController"
	| "DaemonSet"
	| "Job"
	| "Rocket"
	| "Rock";

/** One cluster as its people see it, beside the ClusterApi that looks at it. Every method resolves when it is done. */
export interface ContractWorld {
	readonly api: ClusterApi;
	readonly clusterId: string;
	/** Of this world alone: its Leases and its fleet are here too. */
	readonly namespace: string;
	/** A pod that nothing else touches: not Ready, never scheduled. */
	createPod(pod: {
		readonly name: string;
		readonly labels?: Readonly<Record<string, string>>;
		readonly annotations?: Readonly<Record<string, string>>;
		readonly controller?: ControllerReference;
	}): Promise<PodReference>;
	/** The pod is gone at once. */
	removePod(pod: PodReference): Promise<void>;
	/** The pod is terminating and stays so. */
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
	/** Undefined takes the declaration away. */
	declareFleet(fleet: DeclaredFleet | undefined): Promise<void>;
	close(): Promise<void>;
}
