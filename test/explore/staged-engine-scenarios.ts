// Scenarios that each force one interleaving of events outside the rounds, for example sweeps, runs that end, and evidence in the wrong
// order.
import { reservationsIn } from "./lease-text.ts";
import type { Scenario } from "./scenario.ts";
import { cluster, drain, web } from "./scenario-parts.ts";
import {
	acquisitionsBy,
	agent,
	agentSleeps,
	begins,
	cancels,
	ended,
	endsOnEvidence,
	evictedAt,
	fails,
	fallsSilent,
	isCall,
	isCancelled,
	isHeldBy,
	nobodyIsEvicted,
	reserved,
	server,
	waitsFor,
} from "./staging.ts";
import type { World } from "./world.ts";

const front = { tier: "front" };
const two = [{ name: "web", selector: web, maxUnavailable: 2 }];

export const stagedEngineScenarios: readonly Scenario<World>[] = [
	{
		name: "swept-late",
		about: "A silent grant is swept, and its eviction arrives after its budget's room was given to another pod",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "agent-0 sweeps what is overdue",
				when: (world) => waitsFor(world, "drain-1", "evict"),
				run: (world) => agent(world, 0).sweepOverdue(),
			},
			begins("drain-2", "c1/web-1", isCancelled),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) => isCall(step, "drain-1", "evict") && nobodyIsEvicted(world),
	},
	{
		name: "stopped-unsure",
		about:
			"A run is stopped that does not know whether its eviction was sent, and cannot ask whether it may send it again",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "drain-1 is told to stop",
				when: (world) => world.times("gaveUp") > 0 && waitsFor(world, "drain-1", "confirm"),
				run: (world) => world.drains.find(({ name }) => name === "drain-1")?.stop(),
			},
			begins("drain-2", "c1/web-1", isCancelled),
		],
		limits: { gaveUp: 1, lost: 1 },
		afterEviction: "stays",
		freshViews: true,
		mayFail: (fault, what) => (fault === "gaveUp" ? what.startsWith("evict") : what.startsWith("confirm")),
		holdsBack: (step, world) => {
			if (step.kind === "late") return nobodyIsEvicted(world);
			if (step.kind === "fault")
				return isCall(step, "drain-1", "confirm") && world.times("drain-1 is told to stop") === 0;
			// Each of these two calls meets its fault first.
			if (isCall(step, "drain-1", "evict")) return world.times("gaveUp") === 0;
			return isCall(step, "drain-1", "confirm") && world.times("lost") === 0;
		},
	},
	{
		name: "timed-out-unsure",
		about: "The time of a run is over that does not know whether its eviction was sent",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "the time of drain-1 is over",
				when: (world) => world.times("gaveUp") > 0 && waitsFor(world, "drain-1", "confirm"),
				run: (world) => world.drains.find(({ name }) => name === "drain-1")?.timeOut(),
			},
			begins("drain-2", "c1/web-1", isCancelled),
		],
		limits: { gaveUp: 1, lost: 1 },
		afterEviction: "stays",
		freshViews: true,
		mayFail: (fault, what) => (fault === "gaveUp" ? what.startsWith("evict") : what.startsWith("confirm")),
		holdsBack: (step, world) => {
			if (step.kind === "late") return nobodyIsEvicted(world);
			if (step.kind === "fault")
				return isCall(step, "drain-1", "confirm") && world.times("the time of drain-1 is over") === 0;
			// Each of these two calls meets its fault first.
			if (isCall(step, "drain-1", "evict")) return world.times("gaveUp") === 0;
			return isCall(step, "drain-1", "confirm") && world.times("lost") === 0;
		},
	},
	{
		name: "forbidden-unsure",
		about: "A run that does not know whether its eviction was sent may not read the pod any more",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "drain-1 may not read pods any more",
				when: (world) => world.times("gaveUp") > 0,
				run: (world) => {
					world.cluster("c1").forbidsReads = true;
				},
			},
			begins("drain-2", "c1/web-1", isCancelled),
		],
		limits: { gaveUp: 1 },
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		mayFail: (_, what) => what.startsWith("evict"),
		holdsBack: (step, world) => {
			if (step.kind === "late") return nobodyIsEvicted(world);
			if (isCall(step, "drain-1", "evict")) return world.times("gaveUp") === 0;
			return isCall(step, "drain-1", "get pod") && world.times("drain-1 may not read pods any more") === 0;
		},
	},
	{
		name: "left-out-of-one-budget",
		about: "A pod under two budgets gets labels that one of them does not select, after it was counted",
		clusters: [
			cluster("c1", 0, {
				agents: 1,
				workloads: [{ kind: "StatefulSet", name: "web", labels: { ...web, ...front }, replicas: 3 }],
				budgets: [
					{ name: "web", selector: web, maxUnavailable: 1 },
					{ name: "front", selector: front, maxUnavailable: 1 },
				],
			}),
		],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "web-0 loses the labels of front",
				when: (world) => waitsFor(world, "drain-1", "commit"),
				run: (world) => void server(world).changePod(world.pod("c1", "web-0"), { labels: web }),
			},
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		configChanges: true,
		holdsBack: (step, world) =>
			isCall(step, "drain-1", "commit") && world.times("web-0 loses the labels of front") === 0,
	},
	{
		name: "ended-while-reserved",
		about: "Somebody ends what a round holds, and in that Lease a pod is reserved whose eviction is on its way",
		writtenHolds: true,
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			begins("drain-2", "c1/web-1", (world) => waitsFor(world, "drain-1", "evict"), { attempts: 1 }),
			{
				name: "what drain-2 holds is ended",
				when: (world) => isHeldBy(world, "drain-2"),
				run: (world) => {
					const [lease] = server(world).leases.values();
					if (!lease) throw new Error("a budget without a Lease");
					const { uid: leaseUid, spec } = lease;
					const budget = { namespace: "shop", name: "web" };
					const transitions = spec.leaseTransitions ?? 0;
					const ender = agent(world, 0);
					ender.task("ends a holding", () => ender.local.endHolding({ budget, leaseUid, transitions }));
				},
			},
			begins("drain-3", "c1/web-1", (world) => world.times("what drain-2 holds is ended") > 0, { attempts: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) => {
			if (isCall(step, "drain-1", "evict")) {
				return nobodyIsEvicted(world) && !world.drains.some(({ name, finished }) => name === "drain-3" && finished);
			}
			const isOver = isCall(step, "drain-2", "release") || isCall(step, "drain-2", "commit");
			return isOver && world.times("what drain-2 holds is ended") === 0;
		},
	},
	{
		name: "observed-again",
		about: "One reservation ends on what was seen late, and then another one on what was seen early",
		clusters: [cluster("c1", 5, { budgets: two })],
		drains: [drain("drain-1", ["c1/web-1"], { attempts: 1, agent: 0 })],
		events: [
			begins("drain-2", "c1/web-0", (world) => evictedAt(world, "web-1") < Number.POSITIVE_INFINITY, { attempts: 1 }),
			cancels(0, "web-0", (world) => evictedAt(world, "web-0") < Number.POSITIVE_INFINITY),
			{
				name: "agent-1 ends reservations on evidence",
				when: (world) => ended(world) > 0 && agent(world, 1).podRevision >= evictedAt(world, "web-1"),
				run: (world) => {
					const ender = agent(world, 1);
					ender.task("evidence", () => ender.local.endOnEvidence({ namespace: "shop", name: "web" }));
				},
			},
			begins("drain-3", "c1/web-2", (world) => ended(world) > 1 && !reserved(world, "web-1"), {
				agent: 1,
				attempts: 1,
			}),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		holdsBack: ({ actor, what }, world) =>
			actor === "c1/agent-1" &&
			(what.startsWith("sees that no pod") ||
				(what.startsWith("sees pod") && agent(world, 1).podRevision >= evictedAt(world, "web-1"))),
	},
	{
		name: "joined-read",
		about: "A read of the budget was answered before the budget was edited, and its answer is still on its way",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "the budget allows nothing any more",
				when: (world) => isHeldBy(world, "drain-1") && world.network.answered("c1/agent-0").some(isBudgetRead),
				run: (world) => {
					const spec = { selector: { matchLabels: web }, maxUnavailable: 0 };
					server(world).putBudget({ name: { namespace: "shop", name: "web" }, spec });
				},
			},
			agentSleeps(0, (world) => world.times("the budget allows nothing any more") > 0),
			{
				// Otherwise the agent would list all budgets, and would not join a request that is under way.
				name: "agent-0 compares its budgets",
				when: (world) => world.times("agent-0 of c1 sleeps") > 0,
				run: (world) => agent(world, 0).comparesBudgets(),
			},
			begins("drain-2", "c1/web-1", (world) => world.times("agent-0 compares its budgets") > 0, { attempts: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		configChanges: true,
		splitAnswers: true,
		probe: false,
		holdsBack: (step, world) =>
			isCall(step, "c1/agent-0", "gets the answer to get budgets") && acquisitionsBy(world, "drain-2") === 0,
	},
	{
		name: "compared-too-long-ago",
		about:
			"A budget is made after a drain has listed, and the watch does not show it: a count has to find it, 5 s after",
		clusters: [cluster("c1", 3, { agents: 1, budgets: two })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "budget strict is made",
				when: (world) => waitsFor(world, "drain-1", "acquire"),
				run: (world) => {
					const spec = { selector: { matchLabels: web }, maxUnavailable: 0 };
					server(world).putBudget({ name: { namespace: "shop", name: "strict" }, spec });
				},
			},
			agentSleeps(0, (world) => world.times("budget strict is made") > 0),
		],
		limits: {},
		afterEviction: "stays",
		configChanges: true,
		probe: false,
		holdsBack: (step, world) =>
			isCall(step, "c1/agent-0", "sees budget") ||
			(isCall(step, "drain-1", "acquire") && world.times("agent-0 of c1 sleeps") === 0),
	},
	{
		name: "failed-unseen",
		about: "A pod has failed while the watches are silent, and a round begins",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [],
		events: [
			fallsSilent(0),
			fails("web-2", (world) => world.times("the watches of agent-0 fall silent") > 0),
			begins("drain-1", "c1/web-0", (world) => world.times("web-2 fails") > 0),
		],
		limits: {},
		afterEviction: "stays",
		holdsBack: ({ actor, kind }, world) => actor === "c1/agent-0" && kind === "watch" && nobodyIsEvicted(world),
	},
	{
		name: "cleaned-up-while-reserved",
		about:
			"A budget is deleted and made again while a pod is reserved under it, and Leases without a budget are cleaned up",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "the budget is deleted",
				when: (world) => waitsFor(world, "drain-1", "evict"),
				run: (world) => server(world).deleteBudget({ namespace: "shop", name: "web" }),
			},
			{
				name: "agent-0 looks for Leases without a budget",
				when: (world) => world.times("the budget is deleted") > 0,
				run: (world) => agent(world, 0).cleanUp(),
			},
			{
				name: "the budget is made again",
				when: (world) =>
					world.times("agent-0 looks for Leases without a budget") > 0 &&
					world.network.waiting("c1/agent-0").length === 0,
				run: (world) => {
					const spec = { selector: { matchLabels: web }, maxUnavailable: 1 };
					server(world).putBudget({ name: { namespace: "shop", name: "web" }, spec });
				},
			},
			begins("drain-2", "c1/web-1", (world) => world.times("the budget is made again") > 0, { attempts: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		configChanges: true,
		holdsBack: (step, world) => {
			// This eviction is judged by a budget that it was not granted under, so the other eviction must come second.
			if (isCall(step, "drain-2", "evict")) return nobodyIsEvicted(world);
			return (
				isCall(step, "drain-1", "evict") &&
				!waitsFor(world, "drain-2", "evict") &&
				!world.drains.some(({ name, finished }) => name === "drain-2" && finished)
			);
		},
	},
	{
		name: "cleaned-up-early",
		about: "A Lease that remembers a controller is idle in a cluster that has not the budget, and another member has",
		clusters: [
			cluster("c1", 0, {
				agents: 1,
				workloads: [{ kind: "Database", name: "db", labels: web, replicas: 1 }],
				budgets: [],
			}),
			cluster("c2", 2, { agents: 1 }),
		],
		drains: [drain("drain-1", ["c1/db-0"], { attempts: 1 })],
		events: [
			endsOnEvidence(0, (world) => !nobodyIsEvicted(world) && server(world).pods().length === 0),
			{
				name: "agent-0 looks for Leases without a budget",
				when: (world) => !nobodyIsEvicted(world) && reservationsIn(server(world)).length === 0,
				run: (world) => agent(world, 0).cleanUp(),
			},
			begins(
				"drain-2",
				"c2/web-0",
				(world) =>
					world.times("agent-0 looks for Leases without a budget") > 0 &&
					world.network.waiting("c1/agent-0").length === 0,
			),
		],
		limits: {},
		afterEviction: "ends",
		freshViews: true,
		// Each event waits for the one before it, and all of them have to happen.
		holdsBack: () => false,
	},
];

function isBudgetRead(what: string): boolean {
	return what.startsWith("get budgets");
}
