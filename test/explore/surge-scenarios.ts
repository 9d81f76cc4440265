// Scenarios of rollouts that make one extra pod. The cluster can lose one pod for it, but it does not make up for a pod of another cluster.
import type { BudgetData, ClusterData, Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet, web } from "./scenario-parts.ts";
import type { World } from "./world.ts";

/** Returns a cluster that wants three pods and has four ready ones. */
function surging(id: string, budgets: readonly BudgetData[]): ClusterData {
	const workloads = [{ kind: "Deployment", name: "web", labels: web, replicas: 3, surge: 1 }] as const;
	return cluster(id, 0, { agents: 1, workloads, budgets });
}

const noneUnavailable = [{ name: "web", selector: web, maxUnavailable: 0 }];
const oneUnavailable = [{ name: "web", selector: web, maxUnavailable: 1 }];

export const surgeScenarios: readonly Scenario<World>[] = [
	{
		name: "one-too-many",
		about: "A cluster has a ready pod more than it expects, and pods of another cluster are asked for",
		clusters: [
			surging("c1", oneUnavailable),
			cluster("c2", 0, { agents: 1, workloads: [statefulSet(3)], budgets: oneUnavailable }),
		],
		drains: [
			drain("drain-1", ["c2/web-0"], { attempts: 2 }),
			drain("drain-2", ["c2/web-1"], { attempts: 2 }),
			drain("drain-3", ["c1/web-3-4"], { attempts: 2 }),
		],
		limits: { agentJumps: 1, lost: 1 },
		afterEviction: "stays",
		freshViews: true,
	},
	{
		name: "one-to-spare",
		about: "A budget allows nothing, and a rollout has made one pod more than its cluster expects: that one may go",
		clusters: [surging("c1", noneUnavailable)],
		drains: [drain("drain-1", ["c1/web-0-1"], { attempts: 2 })],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
	},
];
