// Finds covered pods and agents whose replacements would find no node after a drain, or may return to a drained node. Agents are included,
// because without them no pod gets a grant.
import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { type BudgetsOfMember, findCovering } from "../../disruption/budget/coverage-judgement.ts";
import { type PodQuery, podsToTake } from "../drain/pods-to-take.ts";
import { isAgentPod } from "../fleet/agent-pods.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { isReplaced } from "../kubernetes/pod-status.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { readLocalVolumes } from "./local-volumes.ts";
import { findPlacement, toleratesCordon } from "./placement.ts";
import type { StrandedPod } from "./stranded-pods.ts";

type StrandedFleet = Pick<Fleet, "memberOf" | "listBudgets" | "agentNamespaces">;

export interface StrandedPods {
	readonly pods: readonly StrandedPod[];
	/** How many pods the drain evicts in the fleet. */
	readonly going: number;
	readonly problems: readonly string[];
}

interface DrainedCluster {
	readonly context: KubeContext;
	/** Names of the nodes that the drain cordons. */
	readonly drained: ReadonlySet<string>;
	readonly taken: readonly V1Pod[];
}

export interface StrandedQuery extends PodQuery {
	/** In ms since the epoch. */
	readonly now: number;
	/** `lists`: the budgets of the pods' namespaces in all members. */
	readonly onListed?: (pods: readonly V1Pod[], lists: readonly BudgetsOfMember[]) => void;
}

interface FleetPod {
	readonly pod: V1Pod;
	readonly budgets: readonly string[];
}

/** Rejects if pods, budgets or nodes cannot be read. */
export async function findStrandedPods(
	targets: readonly NodeTarget[],
	fleet: StrandedFleet,
	query: StrandedQuery,
): Promise<StrandedPods> {
	const members = targets.filter(({ context }) => fleet.memberOf(context.name) !== undefined);
	const clusters = await Promise.all(
		[...Map.groupBy(members, ({ context }) => context)].map(([context, nodes]) => readCluster(context, nodes, query)),
	);
	const taken = clusters.flatMap((cluster) => cluster.taken);
	const going = taken.length;
	const namespaces = [...new Set(taken.map(namespaceOf))].toSorted();
	if (namespaces.length === 0) return { pods: [], going, problems: [] };
	const lists = await fleet.listBudgets(namespaces);
	query.onListed?.(taken, lists);
	const budgets = lists.flatMap((member) => member.budgets);
	const found = await Promise.all(
		clusters.map((cluster) => {
			const agentNamespaces = fleet.agentNamespaces(cluster.context.name);
			return findInCluster(cluster, fleetPods(cluster.taken.filter(isReplaced), budgets, agentNamespaces));
		}),
	);
	return { pods: found.flatMap(({ pods }) => pods), going, problems: found.flatMap(({ problems }) => problems) };
}

async function readCluster(
	context: KubeContext,
	nodes: readonly NodeTarget[],
	query: StrandedQuery,
): Promise<DrainedCluster> {
	const lists = await Promise.all(nodes.map((node) => podsToTake(node, query, query.now)));
	// As in a drain, a pod that may not be evicted blocks its whole node.
	const taken = lists.flatMap(({ take, errors }) => (errors.length > 0 ? [] : take));
	return {
		context,
		drained: new Set(nodes.map(({ name }) => name)),
		taken,
	};
}

function fleetPods(
	pods: readonly V1Pod[],
	budgets: readonly MemberBudget[],
	agentNamespaces: readonly string[],
): readonly FleetPod[] {
	return pods.flatMap((pod) => {
		const named = { namespace: namespaceOf(pod), labels: pod.metadata?.labels ?? {} };
		const covered = findCovering(budgets, named).budgets.map(({ name }) => formatBudgetName(name));
		return covered.length > 0 || isAgentPod(named, agentNamespaces) ? [{ pod, budgets: covered }] : [];
	});
}

async function findInCluster(
	{ context, drained }: DrainedCluster,
	pods: readonly FleetPod[],
): Promise<Omit<StrandedPods, "going">> {
	if (pods.length === 0) return { pods: [], problems: [] };
	const volumes = await readLocalVolumes(
		context,
		pods.map(({ pod }) => pod),
	);
	const place = ({ pod }: FleetPod, nodes: readonly V1Node[]) =>
		findPlacement(pod, nodes, { drained, volumes: volumes.of(pod) });
	let unplaced = pods;
	const nodes = await context.client.list<V1Node>("/api/v1/nodes", {
		isEnough(seen) {
			// Stop when every pod fits a node. A pod that tolerates a cordon may return to any drained node, so it needs all nodes.
			unplaced = unplaced.filter((each) => toleratesCordon(each.pod) || place(each, seen).kind !== "somewhere");
			return unplaced.length === 0;
		},
	});
	const stranded = unplaced.flatMap((each): readonly StrandedPod[] => {
		const placement = place(each, nodes);
		if (placement.kind === "somewhere") return [];
		const { name = "", uid = "" } = each.pod.metadata ?? {};
		const { pod, budgets } = each;
		return [{ context: context.name, namespace: namespaceOf(pod), pod: name, uid, budgets, placement }];
	});
	return { pods: stranded, problems: volumes.problems };
}

function namespaceOf({ metadata }: V1Pod): string {
	return metadata?.namespace ?? "";
}
