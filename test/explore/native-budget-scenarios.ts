// Scenarios with PodDisruptionBudgets of a cluster, next to xpdb's budgets: the cluster's API server refuses an eviction that was granted.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet, web } from "./scenario-parts.ts";
import { reserved } from "./staging.ts";
import type { World } from "./world.ts";

const threeAvailable = { selector: web, minAvailable: 3 };

/** Returns an event: when the drain of web-0 has ended, it checks that the drain left no reservation and was refused at most once. */
function isRefusedForGood(): EventData<World> {
	return {
		name: "drain-1 is refused for good",
		when: ({ drains }) => drains.every(({ finished }) => finished),
		run: (world) => {
			if (reserved(world, "web-0")) world.bug("drain-1", new Error("a refused eviction keeps its reservation"));
			if (world.cluster("c1").nativeRefusals > 1) world.bug("drain-1", new Error("it tried again, in vain"));
		},
	};
}

export const nativeBudgetScenarios: readonly Scenario<World>[] = [
	{
		name: "native-budget",
		about:
			"A PodDisruptionBudget of the cluster is stricter than ours while a pod fails, and names versions of its own",
		clusters: [
			cluster("c1", 4, {
				workloads: [statefulSet(4, { unready: [3] })],
				budgets: [{ name: "web", selector: web, maxUnavailable: 2 }],
				nativeBudgets: [threeAvailable],
			}),
		],
		drains: [drain("drain-1", ["c1/web-0", "c1/web-3"], { attempts: 4 }), drain("drain-2", ["c1/web-1"])],
		limits: { failures: 1, touches: 2, cancels: 2, gaveUp: 1, drainJumps: 1, agentJumps: 1 },
	},
	{
		name: "two-native-budgets",
		about: "Two PodDisruptionBudgets of the cluster select a pod that was granted: its API server can evict it never",
		clusters: [cluster("c1", 3, { agents: 1, nativeBudgets: [threeAvailable, { selector: web, minAvailable: 0 }] })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 3 })],
		events: [isRefusedForGood()],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: () => false,
	},
];
