// Reads everything that a plan needs: nodes, pods, volumes and budgets.
import type { V1Node, V1Pod } from "@kubernetes/client-node";
import type { FilteredPods } from "../drain/pod-filters.ts";
import { type PodQuery, podsToTake } from "../drain/pods-to-take.ts";
import type { FleetConnection } from "../fleet/fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { type FleetBudgets, readFleetBudgets } from "./fleet-budgets.ts";
import { type LocalVolumes, readLocalVolumes } from "./local-volumes.ts";
import { type NativeBudgets, readNativeBudgets } from "./native-budgets.ts";
import { readSiblings } from "./read-siblings.ts";

export interface NodeFacts {
	readonly target: NodeTarget;
	readonly pods: FilteredPods;
}

export interface ClusterFacts {
	readonly context: KubeContext;
	/** The member's id, or "context NAME" if the cluster is not a member. */
	readonly clusterId: string;
	readonly isMember: boolean;
	readonly agentNamespaces: readonly string[];
	readonly nodes: readonly V1Node[];
	readonly volumes: LocalVolumes;
	readonly native: NativeBudgets;
	/** More pods of the same templates, if the pods to evict do not show how long a start takes. */
	readonly siblings: readonly V1Pod[];
}

export interface PlanFacts {
	/** In the order in which they are drained. */
	readonly nodes: readonly NodeFacts[];
	/** By context name. */
	readonly clusters: ReadonlyMap<string, ClusterFacts>;
	readonly fleet: FleetBudgets | undefined;
}

export interface FactsQuery extends PodQuery {
	/** Whether pods are deleted instead of evicted. Then PodDisruptionBudgets do not apply. */
	readonly deletes: boolean;
	/** In ms since the epoch. */
	readonly now: number;
}

/** The fleet connects while the pods are read. */
export async function readFacts(
	targets: readonly NodeTarget[],
	connecting: Promise<FleetConnection>,
	query: FactsQuery,
): Promise<PlanFacts> {
	const contexts = [...new Set(targets.map(({ context }) => context))];
	const [nodes, lists, { fleet }] = await Promise.all([
		Promise.all(targets.map(async (target) => ({ target, pods: await podsToTake(target, query, query.now) }))),
		Promise.all(contexts.map(({ client }) => client.list<V1Node>("/api/v1/nodes"))),
		connecting,
	]);
	const podsIn = (context: KubeContext): readonly V1Pod[] =>
		nodes.flatMap(({ target, pods }) => (target.context === context ? pods.take : []));
	const clusterIdOf = ({ name }: KubeContext): string => fleet?.memberOf(name)?.id ?? `context ${name}`;
	const covered = contexts.flatMap((context) =>
		fleet?.memberOf(context.name) ? podsIn(context).map((pod) => ({ clusterId: clusterIdOf(context), pod })) : [],
	);
	const [clusters, fleetBudgets] = await Promise.all([
		Promise.all(
			contexts.map(async (context, index): Promise<ClusterFacts> => {
				const clusterId = clusterIdOf(context);
				const [volumes, native, siblings] = await Promise.all([
					readLocalVolumes(context, podsIn(context)),
					query.deletes
						? { budgets: [], problems: [] }
						: readNativeBudgets(context, clusterId, namespacesOf(podsIn(context))),
					readSiblings(context, podsIn(context)),
				]);
				const isMember = fleet?.memberOf(context.name) !== undefined;
				const agentNamespaces = fleet?.agentNamespaces(context.name) ?? [];
				const inCluster = { nodes: lists[index] ?? [], volumes, native, siblings };
				return { context, clusterId, isMember, agentNamespaces, ...inCluster };
			}),
		),
		fleet && readFleetBudgets(fleet, covered),
	]);
	return { nodes, clusters: new Map(clusters.map((each) => [each.context.name, each])), fleet: fleetBudgets };
}

function namespacesOf(pods: readonly V1Pod[]): readonly string[] {
	return [...new Set(pods.map(({ metadata }) => metadata?.namespace ?? ""))];
}
