// Scenarios in which the shipped drain drains nodes: it lists their pods, evicts or deletes them in its own order, and reports what became
// of each node.
import { pauses } from "./command-scenarios.ts";
import type { ClusterData, Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet, web } from "./scenario-parts.ts";
import type { World } from "./world.ts";

/** Returns a cluster whose pods alternate between two nodes. */
function onNodes(id: string, replicas: number): ClusterData {
	return cluster(id, replicas, { workloads: [statefulSet(replicas, { nodes: ["n1", "n2"] })] });
}

export const drainScenarios: readonly Scenario<World>[] = [
	{
		name: "drained-nodes",
		about: "Nodes of two clusters are drained, one after the other and side by side, and cordons and lists fail",
		clusters: [onNodes("c1", 3), onNodes("c2", 2)],
		drains: [
			drain("drain-1", [], { nodes: ["c1/n1", "c2/n1"], attempts: 6 }),
			drain("drain-2", [], { nodes: ["c2/n1"], attempts: 4 }),
		],
		limits: { lost: 2, gaveUp: 2, answerLost: 1, failures: 1, stops: 1 },
	},
	{
		name: "drained-in-dry-run",
		about: "A dry run on the server of a drain, beside one that uses the budget",
		clusters: [onNodes("c1", 2), onNodes("c2", 2)],
		drains: [
			drain("dry", [], { nodes: ["c1/n1", "c2/n1"], dryRun: true, attempts: 6 }),
			drain("drain-1", [], { nodes: ["c2/n1"], attempts: 3 }),
		],
		limits: { lost: 1, gaveUp: 1, answerLost: 1, failures: 1 },
	},
	{
		name: "drained-in-time",
		about: "Drains that are paused and resumed have a time for each node",
		clusters: [onNodes("c1", 3), onNodes("c2", 2)],
		drains: [
			drain("drain-1", [], { nodes: ["c1/n1", "c1/n2"], timeoutMs: 6_000, attempts: 6 }),
			drain("drain-2", ["c2/web-0"]),
		],
		events: pauses,
		limits: { gaveUp: 1, answerLost: 1, stops: 1, drainJumps: 1 },
	},
	{
		name: "drained-by-deletes",
		about: "Pods of nodes are deleted in the order of a label, with two budgets and requests that arrive late",
		clusters: [
			cluster("c1", 0, {
				workloads: [
					statefulSet(2, { name: "db", labels: { ...web, tier: "2" }, nodes: ["n1", "n2"] }),
					statefulSet(2, { labels: { ...web, tier: "1" }, nodes: ["n1", "n2"] }),
				],
			}),
		],
		drains: [
			drain("drain-1", [], { nodes: ["c1/n1"], deletes: true, orderBy: "tier", attempts: 5 }),
			drain("drain-2", ["c1/db-1"], { deletes: true, attempts: 2 }),
		],
		limits: { cancels: 1, gaveUp: 2, answerLost: 1, touches: 1, refused: 1 },
	},
];
