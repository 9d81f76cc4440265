// Scenarios in which budgets, fleets, scales or owners differ between members or change while rounds run. Others are about deleted Leases,
// members that do not answer, pods without a controller, and a restored etcd.
import { reservationsIn } from "./lease-text.ts";
import type { BudgetData, Scenario } from "./scenario.ts";
import { cluster, drain, oneUnavailable, statefulSet, trouble, web } from "./scenario-parts.ts";
import { namespace } from "./workload.ts";
import type { World } from "./world.ts";

function budget(more: Partial<BudgetData>): readonly BudgetData[] {
	return [{ name: "web", selector: web, ...more }];
}

/** Writes the budget in every member, or in the listed ones. */
function put(world: World, spec: Readonly<Record<string, unknown>>, ids?: readonly string[]): void {
	for (const { id, server } of world.clusters) {
		if (ids && !ids.includes(id)) continue;
		server.putBudget({ name: { namespace, name: "web" }, spec: { selector: { matchLabels: web }, ...spec } });
	}
}

export const configScenarios: readonly Scenario<World>[] = [
	{
		name: "missing-in-member",
		about: "One member has the budget and the other has not: it holds for both",
		clusters: [cluster("c1", 2, { budgets: [] }), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c2/web-0"]), drain("drain-3", ["c1/web-1"])],
		limits: { agentJumps: 2, lost: 1 },
		afterEviction: "stays",
	},
	{
		name: "second-budget-elsewhere",
		about: "A pod's second budget stands in another member only",
		clusters: [
			cluster("c1", 2),
			cluster("c2", 2, { budgets: [...oneUnavailable, { name: "strict", selector: web, maxUnavailable: 0 }] }),
		],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 2 }), drain("drain-2", ["c2/web-0"], { attempts: 2 })],
		limits: { agentJumps: 1 },
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "suspended-in-one",
		about: "A budget that is suspended in one member holds",
		clusters: [cluster("c1", 2, { budgets: budget({ maxUnavailable: 1, suspend: true }) }), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c2/web-0"]), drain("drain-3", ["c1/web-1"])],
		limits: { agentJumps: 2 },
		afterEviction: "stays",
	},
	{
		name: "bounds-differ",
		about: "Members demand different bounds: the strictest counts",
		clusters: [
			cluster("c1", 2, { budgets: budget({ maxUnavailable: 2 }) }),
			cluster("c2", 2, { budgets: budget({ maxUnavailable: 1 }) }),
		],
		drains: [drain("drain-1", ["c1/web-0", "c1/web-1"]), drain("drain-2", ["c2/web-0"])],
		limits: { agentJumps: 2 },
		afterEviction: "stays",
	},
	{
		name: "selectors-differ",
		about: "Members select different pods under one budget: whichever counts, the other one's pods are not",
		clusters: [
			cluster("c1", 0, {
				workloads: [
					statefulSet(2),
					{ kind: "StatefulSet", name: "shared", labels: { app: "web", tier: "front" }, replicas: 2 },
					{ kind: "StatefulSet", name: "front", labels: { tier: "front" }, replicas: 2 },
				],
				budgets: budget({ minAvailable: 4 }),
			}),
			cluster("c2", 1, { budgets: budget({ selector: { tier: "front" }, minAvailable: 4 }) }),
		],
		// A pod that both selectors match is counted under the selector that the caller reads first. Five pods match that of c1, and only
		// four that of c2.
		drains: [
			drain("drain-1", ["c1/shared-0"], { attempts: 2 }),
			drain("drain-2", ["c1/shared-1"], { attempts: 2, members: ["c2", "c1"] }),
			drain("drain-3", ["c1/front-0"], { attempts: 2 }),
		],
		limits: { agentJumps: 1 },
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "fleets-differ",
		about: "One member declares a smaller fleet than the other",
		hasThinRuns: true,
		clusters: [cluster("c1", 2, { fleet: ["c1"] }), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0"], { members: ["c1"] }), drain("drain-2", ["c2/web-0"])],
		limits: { agentJumps: 1, lost: 1 },
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "no-answer",
		about: "Members and API servers that often do not answer",
		clusters: [cluster("c1", 2), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c2/web-0"], { attempts: 4 })],
		limits: { lost: 8, answerLost: 4, gaveUp: 2 },
		afterEviction: "stays",
		configChanges: true,
	},
	{
		name: "budget-edited",
		about: "The budget gets stricter and looser, and is suspended for a while, member by member",
		clusters: [cluster("c1", 5), cluster("c2", 4)],
		drains: [
			drain("drain-1", ["c1/web-0", "c1/web-1"]),
			drain("drain-2", ["c2/web-0"]),
			drain("drain-3", ["c2/web-1"]),
		],
		events: [
			{ name: "c1 allows two", run: (world) => put(world, { maxUnavailable: 2 }, ["c1"]) },
			{ name: "c2 allows two", run: (world) => put(world, { maxUnavailable: 2 }, ["c2"]) },
			{ name: "c1 suspends", run: (world) => put(world, { maxUnavailable: 1, suspend: true }, ["c1"]) },
			{ name: "c2 suspends", run: (world) => put(world, { maxUnavailable: 1, suspend: true }, ["c2"]) },
			{ name: "all allow one again", times: 2, run: (world) => put(world, { maxUnavailable: 1 }) },
		],
		limits: { ...trouble, pauses: 4, evidence: 2, cancels: 1 },
		configChanges: true,
	},
	{
		name: "budget-created",
		about: "A second, stricter budget over the same pods appears while rounds run",
		clusters: [cluster("c1", 4, { budgets: budget({ maxUnavailable: 2 }) })],
		drains: [drain("drain-1", ["c1/web-0"], { agent: 0 }), drain("drain-2", ["c1/web-1"], { agent: 1 })],
		events: [
			{
				name: "budget strict is created",
				run: (world) => {
					const spec = { selector: { matchLabels: web }, maxUnavailable: 1 };
					world.cluster("c1").server.putBudget({ name: { namespace, name: "strict" }, spec });
				},
			},
		],
		limits: { agentJumps: 2, drainJumps: 1 },
		afterEviction: "stays",
		configChanges: true,
	},
	{
		name: "lease-deleted",
		about: "The budget goes and comes back, and with it its Lease",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { attempts: 2 }),
			drain("drain-2", ["c1/web-1"], { attempts: 2 }),
			drain("drain-3", ["c1/web-2"], { attempts: 3 }),
		],
		events: [
			{
				name: "the budget is deleted",
				times: 2,
				run: (world) => world.cluster("c1").server.deleteBudget({ namespace, name: "web" }),
			},
			{ name: "the budget is created", times: 2, run: (world) => put(world, { maxUnavailable: 1 }) },
		],
		limits: { leaseDeletions: 3, doubled: 2, agentJumps: 3, evidence: 3, gaveUp: 1, drainJumps: 1 },
		afterEviction: "stays",
		configChanges: true,
		leasesExist: false,
	},
	{
		name: "lease-goes",
		about: "The budget goes while a reservation stands, and comes back",
		clusters: [cluster("c1", 3)],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c1/web-1"], { attempts: 4 })],
		events: [
			{
				name: "the budget is deleted",
				when: (world) => reservationsIn(world.cluster("c1").server).length > 0,
				run: (world) => world.cluster("c1").server.deleteBudget({ namespace, name: "web" }),
			},
			{
				name: "the budget is created again",
				when: (world) => world.times("the budget is deleted") > 0,
				run: (world) => put(world, { maxUnavailable: 1 }),
			},
		],
		limits: { leaseDeletions: 1, evidence: 1, agentJumps: 1 },
		afterEviction: "stays",
		configChanges: true,
	},
	{
		name: "lease-forgotten",
		about: "The Lease that knew of an eviction was deleted, and one of two agents has not seen the eviction",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-1"], { agent: 1, attempts: 2 }),
			drain("drain-2", ["c1/web-2"], { agent: 0, attempts: 2 }),
		],
		prepare: (world) => {
			const c1 = world.cluster("c1");
			const pod = world.pod("c1", "web-0");
			// The agent that lags has touched its own pod before.
			const own = c1.server.listPods().pods.find(({ name }) => name === "agent-1");
			if (own) c1.server.touchPod(own, "again");
			c1.agents[1]?.seesEverything();
			world.oracle.evictedBefore(c1, pod);
			c1.agents[0]?.seesEverything();
		},
		limits: { agentJumps: 1, evidence: 1 },
		afterEviction: "stays",
		leasesExist: false,
	},
	{
		name: "orphans",
		about: "Pods that nobody controls are expected like all others, and kept",
		hasThinRuns: true,
		clusters: [
			cluster("c1", 0, { workloads: [{ kind: "Bare", name: "web", labels: web, replicas: 3 }] }),
			cluster("c2", 2),
		],
		drains: [
			drain("drain-1", ["c1/web-0", "c1/web-1"]),
			drain("drain-2", ["c2/web-0"]),
			drain("drain-3", ["c2/web-1"]),
		],
		limits: { agentJumps: 2, evidence: 2 },
		afterEviction: "ends",
	},
	{
		name: "owners-change",
		about: "A controller is deleted and its pods are left; another one is scaled",
		clusters: [
			cluster("c1", 2),
			cluster("c2", 3, { workloads: [{ kind: "Deployment", name: "web", labels: web, replicas: 3 }] }),
		],
		drains: [
			drain("drain-1", ["c1/web-0", "c1/web-1"]),
			drain("drain-2", ["c2/web-0-1"]),
			drain("drain-3", ["c2/web-1-2"]),
		],
		events: [
			{ name: "the controller of c1 is deleted", run: (world) => world.cluster("c1").workloads[0]?.orphan() },
			{ name: "c2 is scaled to 2", run: (world) => world.cluster("c2").workloads[0]?.scale(2) },
			{ name: "c2 is scaled to 4", run: (world) => world.cluster("c2").workloads[0]?.scale(4) },
		],
		limits: { ...trouble, evidence: 3, cancels: 1 },
		configChanges: true,
	},
	{
		name: "restored",
		about: "etcd comes back from a backup that is older than a round's acquisition",
		isRestored: true,
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c1/web-1"], { attempts: 1 })],
		events: [
			{
				name: "etcd is restored",
				// A restore loses the reservations and evictions since the backup (docs/guarantees.md). So it happens only while nothing
				// but holds is lost.
				when: ({ oracle, clusters }) =>
					oracle.evictions === 0 && clusters.every(({ server }) => reservationsIn(server).length === 0),
				run: (world) => world.restore(),
			},
		],
		limits: { agentJumps: 1 },
		afterEviction: "stays",
	},
];
