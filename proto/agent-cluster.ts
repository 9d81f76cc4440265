// What an agent answers beyond the round: who it is, which budgets it has, a look at a count.
import type { AcquireRequest, Cluster, Count, MemberBudget } from "../disruption/cluster.ts";
import type { FleetMember } from "../disruption/fleet.ts";

export interface AgentDescription {
	readonly clusterId: string;
	readonly clusterName: string;
	/** Of the agent. */
	readonly version: string;
	readonly features: readonly string[];
	readonly members: readonly FleetMember[];
	readonly fleetHash: string;
	readonly leaseNamespace: string;
	/** Whom the cluster knows as members, and its fleet neither lists nor forgets: until it does, it counts nothing. */
	readonly unresolved?: readonly { readonly id: string; readonly name: string }[];
}

export interface BudgetList {
	readonly clusterId: string;
	readonly fleetHash: string;
	readonly budgets: readonly MemberBudget[];
}

export type LookRequest = Pick<AcquireRequest, "budget" | "selector" | "candidates">;

/** A member of the fleet with all that its agent answers. */
export interface AgentCluster extends Cluster {
	describe(): Promise<AgentDescription>;
	/** No namespaces: all of them. */
	listBudgets(namespaces: readonly string[]): Promise<BudgetList>;
	/** A count without an acquisition, for people: no decision may rest on it. */
	look(request: LookRequest): Promise<Count>;
}
