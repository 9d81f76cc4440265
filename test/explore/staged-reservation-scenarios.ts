// Scenarios that each force one interleaving of reservations. Most runs reach it, and only a safeguard keeps it harmless.
import type { Scenario } from "./scenario.ts";
import { cluster, drain, web } from "./scenario-parts.ts";
import {
	agent,
	becomesReady,
	begins,
	cancels,
	drainSleeps,
	ended,
	endsOnEvidence,
	isCall,
	isCancelled,
	lists,
	namesCurrent,
	nobodyIsEvicted,
	reserved,
	server,
	waitsFor,
} from "./staging.ts";
import type { World } from "./world.ts";

const front = { tier: "front" };
const twoBudgets = [
	{ name: "web", selector: web, maxUnavailable: 1 },
	{ name: "front", selector: front, maxUnavailable: 1 },
] as const;
const first = drain("drain-1", ["c1/web-0"], { attempts: 1, agent: 1 });

const isEvicting = (world: World): boolean => waitsFor(world, "drain-1", "evict");

export const stagedReservationScenarios: readonly Scenario<World>[] = [
	{
		name: "left-half-way",
		about: "A canceller stops after its mark, and another one goes on from there before a late eviction arrives",
		clusters: [cluster("c1", 3)],
		drains: [first],
		events: [
			cancels(0, "web-0", isEvicting),
			cancels(1, "web-0", (world) => reserved(world, "web-0")?.cancelling ?? false),
			begins("drain-2", "c1/web-1", isCancelled, { agent: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		// With one doubled request anywhere.
		search: { limits: { doubled: 1 }, leaseCallsAtOnce: true, isStaged: true },
		holdsBack: (step, world) =>
			isCall(step, "c1/agent-0", "get pod") || (isCall(step, "drain-1", "evict") && nobodyIsEvicted(world)),
	},
	{
		name: "confirmed-meanwhile",
		about: "An evictor meets the touch of a cancel, reads and confirms before the reservation is removed",
		clusters: [cluster("c1", 3)],
		drains: [first],
		events: [cancels(0, "web-0", isEvicting), begins("drain-2", "c1/web-1", isCancelled, { agent: 1 })],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		search: { limits: {}, leaseCallsAtOnce: true, freshViews: true },
		holdsBack: (step, world) => {
			const isCurrent = (what: string): boolean => what.startsWith("evict") && namesCurrent(what, world, "web-0");
			if (step.actor === "drain-1" && isCurrent(step.what)) return nobodyIsEvicted(world);
			// The removal waits until the evictor has an answer. The mark does not wait.
			return (
				isCall(step, "c1/agent-0", "update Lease") &&
				!world.network.waiting("drain-1").some(isCurrent) &&
				!world.drains.some(({ name, finished }) => name === "drain-1" && finished)
			);
		},
	},
	{
		name: "read-late",
		about: "A cancel comes and goes between the two questions that an evictor asks before it evicts",
		clusters: [cluster("c1", 3)],
		drains: [first],
		events: [
			drainSleeps("drain-1", (world) => waitsFor(world, "drain-1", "commit")),
			cancels(0, "web-0", (world) => waitsFor(world, "drain-1", "get pod")),
			begins("drain-2", "c1/web-1", isCancelled),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		search: { limits: {}, leaseCallsAtOnce: true, freshViews: true },
		holdsBack: (step, world) =>
			(isCall(step, "drain-1", "commit") && world.times("drain-1 sleeps") === 0) ||
			(isCall(step, "drain-1", "get pod") && nobodyIsEvicted(world)),
	},
	{
		name: "granted-anew",
		about: "Of two who cancel one reservation the slower one comes back when its pod was granted anew",
		clusters: [cluster("c1", 3)],
		drains: [first],
		events: [
			cancels(0, "web-0", (world) => ended(world) === 0 && isEvicting(world)),
			cancels(
				1,
				"web-0",
				(world) => waitsFor(world, "c1/agent-0", "update") && (reserved(world, "web-0")?.cancelling ?? false),
			),
			begins("drain-2", "c1/web-0", isCancelled, { agent: 1 }),
			begins("drain-3", "c1/web-1", (world) => nobodyIsEvicted(world) && ended(world) > 1, { agent: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) => {
			if (isCall(step, "drain-1", "evict")) return true;
			if (isCall(step, "drain-2", "evict")) return nobodyIsEvicted(world);
			if (!isCall(step, "c1/agent-0", "update")) return false;
			const reservation = reserved(world, "web-0");
			return reservation === undefined || reservation.cancelling;
		},
	},
	{
		name: "somebody-elses",
		about: "A pod is asked for that is reserved for somebody else, whose reservation is then cancelled",
		clusters: [cluster("c1", 3)],
		drains: [first],
		events: [
			begins("drain-2", "c1/web-0", isEvicting, { agent: 1 }),
			cancels(0, "web-0", (world) => waitsFor(world, "drain-2", "evict")),
			begins("drain-3", "c1/web-1", isCancelled, { agent: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		// With one doubled request anywhere.
		search: { limits: { doubled: 1 }, leaseCallsAtOnce: true, isStaged: true },
		holdsBack: (step, world) =>
			isCall(step, "drain-1", "evict") || (isCall(step, "drain-2", "evict") && nobodyIsEvicted(world)),
	},
	{
		name: "between-commits",
		about: "Under two budgets a reservation is cancelled in one while its commit in the other is still on its way",
		clusters: [
			cluster("c1", 2, {
				agents: 1,
				workloads: [
					{ kind: "StatefulSet", name: "web", labels: web, replicas: 2 },
					{ kind: "StatefulSet", name: "shared", labels: { ...web, ...front }, replicas: 2 },
				],
				budgets: twoBudgets,
			}),
		],
		drains: [drain("drain-1", ["c1/shared-0"], { attempts: 1 })],
		events: [cancels(0, "shared-0", () => true), begins("drain-2", "c1/web-0", isCancelled)],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) => isCall(step, "drain-1", "commit front") && !reserved(world, "web-0"),
	},
	{
		name: "ready-before-it-goes",
		about: "A pod that cost nothing, because it was not ready, is ready when its eviction arrives",
		hasThinRuns: true,
		clusters: [
			cluster("c1", 3, {
				agents: 1,
				workloads: [{ kind: "StatefulSet", name: "web", labels: web, replicas: 3, unready: [0] }],
			}),
		],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			becomesReady("web-0", isEvicting),
			begins("drain-2", "c1/web-1", (world) => world.times("web-0 becomes ready") > 0, { attempts: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) =>
			isCall(step, "drain-1", "evict") && !world.drains.some(({ name, finished }) => name === "drain-2" && finished),
	},
	{
		name: "one-commit-first",
		about: "Of a pod under two budgets one commit is late, and somebody asks for a pod of the other budget meanwhile",
		clusters: [
			cluster("c1", 0, {
				agents: 1,
				workloads: [
					{ kind: "StatefulSet", name: "shared", labels: { ...web, ...front }, replicas: 2 },
					{ kind: "StatefulSet", name: "front", labels: front, replicas: 2 },
					{ kind: "StatefulSet", name: "web", labels: web, replicas: 2 },
				],
				budgets: twoBudgets,
			}),
		],
		drains: [drain("drain-1", ["c1/shared-0"], { attempts: 1 })],
		events: (["front", "web"] as const).map((name) =>
			begins(`drain-${name}`, `c1/${name}-0`, (world) => isCommitted(world, name), { attempts: 1 }),
		),
		limits: {},
		writtenHolds: true,
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) =>
			isCall(step, "drain-1", "commit") &&
			["front", "web"].some((name) => isCommitted(world, name)) &&
			!world.drains.some(({ name, finished }) => name !== "drain-1" && finished),
	},
	{
		name: "relabelled",
		about: "A pod that was granted under one budget gets the labels of another before it is evicted",
		clusters: [
			cluster("c1", 0, {
				workloads: [
					{ kind: "StatefulSet", name: "moving", labels: front, replicas: 1 },
					{ kind: "StatefulSet", name: "front", labels: front, replicas: 2 },
					{ kind: "StatefulSet", name: "web", labels: web, replicas: 2 },
				],
				budgets: twoBudgets,
			}),
		],
		drains: [
			drain("drain-1", ["c1/moving-0"], { attempts: 1, agent: 0 }),
			drain("drain-2", ["c1/web-0"], { attempts: 1, agent: 0 }),
		],
		events: [
			{
				name: "pod moving-0 gets the labels of web",
				when: (world) => reserved(world, "moving-0") !== undefined && !nobodyIsEvicted(world),
				run: (world) => {
					server(world).changePod(world.pod("c1", "moving-0"), { labels: web });
					// Labels are known as fast as views show them. That delay is not the subject here.
					for (const each of world.agents()) each.seesEverything();
				},
			},
		],
		limits: {},
		afterEviction: "stays",
		search: { limits: {}, leaseCallsAtOnce: true, freshViews: true },
		holdsBack: (step, world) =>
			isCall(step, "drain-1", "evict") && world.times("pod moving-0 gets the labels of web") === 0,
	},
	{
		name: "seen-in-a-list",
		about: "One agent knows from a list that a pod is gone, and all others in that list are older than its end",
		clusters: [cluster("c1", 3)],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1, agent: 0 })],
		events: [
			lists(0, (world) => server(world).pods().length < 3),
			endsOnEvidence(
				0,
				(world) =>
					world.times("agent-0 lists") > 0 &&
					agent(world, 0).podRevision >= Number(server(world).podEvents.at(-1)?.resourceVersion),
			),
			begins("drain-2", "c1/web-1", (world) => ended(world) > 0, { agent: 1 }),
		],
		limits: {},
		afterEviction: "ends",
		holdsBack: ({ what }, world) => what.startsWith("sees pod") && !nobodyIsEvicted(world),
	},
	{
		name: "list-overtakes",
		about: "A list overtakes the watch, which then shows the pod as it was before it was evicted",
		clusters: [cluster("c1", 3)],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1, agent: 0 })],
		prepare: (world) => {
			server(world).touchPod(world.pod("c1", "web-0"), "earlier");
			agent(world, 0).seesEverything();
		},
		events: [
			lists(1, (world) => !nobodyIsEvicted(world)),
			endsOnEvidence(0, (world) => !nobodyIsEvicted(world) && agent(world, 0).podRevision >= evictedAt(world)),
			begins("drain-2", "c1/web-1", (world) => ended(world) > 0 && agent(world, 1).podRevision >= evictedAt(world), {
				agent: 1,
			}),
		],
		limits: {},
		afterEviction: "stays",
		holdsBack: ({ actor, what }, world) =>
			actor === "c1/agent-1" &&
			what.startsWith("sees pod") &&
			(agent(world, 1).podRevision < evictedAt(world) || what.endsWith(` ${evictedAt(world)}`)),
	},
];

/** Returns the version of web-0 if its eviction has begun. Infinite before that, so that no view has reached it. */
function evictedAt(world: World): number {
	const { terminating, resourceVersion } = world.pod("c1", "web-0");
	return terminating ? Number(resourceVersion) : Number.POSITIVE_INFINITY;
}

/** Whether drain-1's commit under this budget has been executed, and its other commit has not. */
function isCommitted(world: World, budget: string): boolean {
	const asked = world.network.waiting("drain-1").filter((what) => what.startsWith("commit"));
	return asked.length === 1 && asked.every((what) => !what.startsWith(`commit ${budget}`));
}
