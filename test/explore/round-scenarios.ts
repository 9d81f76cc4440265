// Scenarios of rounds that compete: for Leases, in commits and in lines, with most faults of messages and processes.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, onlyOnce, trouble, web } from "./scenario-parts.ts";
import { namespace } from "./workload.ts";
import type { World } from "./world.ts";

/** Returns an event: a person ends the current hold of a Lease. */
function endsHolding(id: string): EventData<World> {
	const held = (world: World) =>
		[...world.cluster(id).server.leases.values()].find(({ spec }) => spec.holderIdentity !== undefined);
	return {
		name: `somebody ends a holding in ${id}`,
		times: 2,
		when: (world) => held(world) !== undefined && world.cluster(id).agents.some(({ alive }) => alive),
		run: (world) => {
			const lease = held(world);
			const agent = world.cluster(id).agents.find(({ alive }) => alive);
			if (!lease || !agent) throw new Error("an event where nobody holds anything");
			const { uid: leaseUid, spec } = lease;
			const holding = { budget: { namespace, name: "web" }, leaseUid, transitions: spec.leaseTransitions ?? 0 };
			agent.task("ends a holding", () => agent.local.endHolding(holding));
		},
	};
}

export const roundScenarios: readonly Scenario<World>[] = [
	{
		name: "race",
		about: "Three drains in two clusters under a budget of one, with every kind of trouble",
		clusters: [cluster("c1", 2), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c2/web-0"]), drain("drain-3", ["c2/web-1"])],
		limits: { ...trouble, cancels: 1, evidence: 1, sweeps: 1 },
	},
	{
		name: "steal",
		about: "Two drains in two clusters, one try each, and Leases that expire at any moment",
		clusters: [cluster("c1", 2, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c2/web-0"], { attempts: 1 })],
		limits: { agentJumps: 4, doubled: 1, answerLost: 1, repeated: 1, gaveUp: 1 },
		afterEviction: "stays",
		freshViews: true,
		search: {
			limits: { agentJumps: 1 },
			drains: [onlyOnce("drain-1", "c1/web-0"), onlyOnce("drain-2", "c2/web-0")],
			leaseCallsAtOnce: true,
		},
	},
	{
		name: "doubled-acquire",
		about: "A double of an acquire arrives after its acquisition was lost to another round",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c1/web-1"], { attempts: 2 })],
		limits: { agentJumps: 3, doubled: 2, gaveUp: 1 },
		afterEviction: "stays",
		freshViews: true,
		search: {
			limits: { agentJumps: 1, doubled: 1 },
			drains: [onlyOnce("drain-1", "c1/web-0"), onlyOnce("drain-2", "c1/web-1")],
			leaseCallsAtOnce: true,
		},
	},
	{
		name: "three-clusters",
		about: "One replica a cluster: whoever is evicted takes along what its cluster knows of its controller",
		clusters: [cluster("c1", 1), cluster("c2", 1), cluster("c3", 1)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c2/web-0"]), drain("drain-3", ["c3/web-0"])],
		limits: { ...trouble, evidence: 3, cancels: 1 },
	},
	{
		name: "many-at-once",
		about: "Rounds that ask for several pods at once under a budget of two",
		clusters: [
			cluster("c1", 3, { budgets: [{ name: "web", selector: web, maxUnavailable: 2 }] }),
			cluster("c2", 2, { budgets: [{ name: "web", selector: web, maxUnavailable: 2 }] }),
		],
		drains: [
			drain("drain-1", ["c1/web-0", "c1/web-1", "c1/web-2"], { attempts: 4 }),
			drain("drain-2", ["c2/web-0", "c2/web-1"]),
		],
		limits: { ...trouble, evidence: 2 },
	},
	{
		name: "percent",
		about: "A percentage that has to be rounded up",
		clusters: [
			cluster("c1", 2, { budgets: [{ name: "web", selector: web, minAvailable: "51%" }] }),
			cluster("c2", 1, { budgets: [{ name: "web", selector: web, minAvailable: "51%" }] }),
		],
		drains: [drain("drain-1", ["c1/web-0", "c1/web-1"]), drain("drain-2", ["c2/web-0"])],
		limits: { agentJumps: 2, lost: 2 },
		configChanges: true,
	},
	{
		name: "waiting",
		about: "Drains that have the members in contrary orders and wait in line for each other's Leases",
		clusters: [cluster("c1", 3, { agents: 1 }), cluster("c2", 3, { agents: 1 }), cluster("c3", 3, { agents: 1 })],
		drains: [
			drain("drain-1", ["c1/web-0"], { members: ["c1", "c2", "c3"], attempts: 5 }),
			drain("drain-2", ["c2/web-0"], { members: ["c2", "c3", "c1"], attempts: 5 }),
			drain("drain-3", ["c3/web-0"], { members: ["c3", "c1", "c2"], attempts: 5 }),
		],
		limits: { drainJumps: 1 },
	},
	{
		name: "one-line",
		about: "Two agents a cluster, one line: the second agent passes callers on, and the first may die",
		clusters: [cluster("c1", 2), cluster("c2", 2)],
		drains: [
			drain("drain-1", ["c1/web-0"], { agent: 0, attempts: 4 }),
			drain("drain-2", ["c2/web-0"], { agent: 1, attempts: 4 }),
			drain("drain-3", ["c2/web-1"], { agent: 1, attempts: 4 }),
		],
		limits: { agentJumps: 1, restarts: 2, lost: 2, crashes: 1 },
		lineHost: true,
	},
	{
		name: "ended-holding",
		about: "Somebody ends what a round holds, at any moment, while pods that others were granted are not evicted yet",
		clusters: [cluster("c1", 3, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [
			drain("drain-1", ["c1/web-0"], { attempts: 2 }),
			drain("drain-2", ["c2/web-0"], { attempts: 2 }),
			drain("drain-3", ["c1/web-1"], { attempts: 3 }),
		],
		events: [endsHolding("c1"), endsHolding("c2")],
		limits: { gaveUp: 1, crashes: 1 },
		afterEviction: "stays",
		freshViews: true,
	},
	{
		name: "new-lease",
		about: "Nobody has used the budget before: the first rounds make the Leases",
		clusters: [cluster("c1", 4), cluster("c2", 4)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c2/web-0"]), drain("drain-3", ["c1/web-1"])],
		limits: { ...trouble },
		leasesExist: false,
	},
];
