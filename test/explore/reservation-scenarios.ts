// Scenarios of what happens to a reservation: evidence, views that lag, the fence, late evictors, replacements, pods that are not ready,
// pods under two budgets, and budgets that begin to cover a reserved pod.
import { reservationsIn } from "./lease-text.ts";
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, onlyOnce, trouble, web } from "./scenario-parts.ts";
import { agent, becomesReady, begins, isCall, isCancelled, waitsFor } from "./staging.ts";
import type { World } from "./world.ts";

const front = { tier: "front" };
const both = { ...web, ...front };
/** Two budgets that share some pods. */
const twoBudgets = [
	{ name: "web", selector: web, maxUnavailable: 1 },
	{ name: "front", selector: front, maxUnavailable: 1 },
] as const;

const coversAll = "budget front selects web";
const oneUnready = { kind: "StatefulSet", name: "web", labels: web, replicas: 4, unready: [1] } as const;

export const reservationScenarios: readonly Scenario<World>[] = [
	{
		name: "fence",
		about: "Reservations are cancelled while their evictors are paused, and requests arrive late",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c1/web-1"], { attempts: 2 })],
		limits: { cancels: 2, drainJumps: 2, gaveUp: 2, answerLost: 1, touches: 1, crashes: 1, refused: 1, agentJumps: 1 },
		afterEviction: "stays",
		onlyFails: "evict",
		search: {
			limits: { cancels: 1, gaveUp: 1 },
			drains: [onlyOnce("drain-1", "c1/web-0")],
			events: [begins("drain-2", "c1/web-1", isCancelled, { attempts: 1, neverWaits: true })],
			freshViews: true,
			leaseCallsAtOnce: true,
		},
	},
	{
		name: "confirm-elsewhere",
		about: "The agent that is asked to confirm has not heard of a cancel that another one made",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { agent: 1, attempts: 1 }),
			drain("drain-2", ["c1/web-1"], { agent: 0, attempts: 2 }),
		],
		limits: { cancels: 2, drainJumps: 2, gaveUp: 1, touches: 1, agentJumps: 1 },
		afterEviction: "stays",
	},
	{
		name: "touched-before",
		about: "A pod is granted and cancelled that was cancelled before",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c1/web-1"], { attempts: 3 })],
		prepare: (world) => void world.cluster("c1").server.touchPod(world.pod("c1", "web-0"), "again"),
		limits: { cancels: 2, drainJumps: 1, gaveUp: 1, agentJumps: 1 },
		afterEviction: "stays",
		onlyFails: "evict",
	},
	{
		name: "two-cancellers",
		about: "Two agents cancel one reservation, and its pod is granted anew meanwhile",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { attempts: 1, agent: 0 }),
			drain("drain-2", ["c1/web-0"], { attempts: 2, agent: 0 }),
			drain("drain-3", ["c1/web-1"], { attempts: 3, agent: 0 }),
		],
		limits: { cancels: 3, drainJumps: 3, agentJumps: 1 },
		afterEviction: "stays",
		freshViews: true,
	},
	{
		name: "half-cancelled",
		about: "A canceller dies half way, and another one goes on from there",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { attempts: 1, agent: 0 }),
			drain("drain-2", ["c1/web-1"], { attempts: 3, agent: 0 }),
		],
		limits: { cancels: 3, restarts: 1, gaveUp: 2, answerLost: 1, drainJumps: 1, agentJumps: 1 },
		afterEviction: "stays",
		freshViews: true,
	},
	{
		name: "refused",
		about: "The API server refuses an eviction while an earlier request for it is still on its way",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c1/web-1"], { attempts: 3 })],
		limits: { refused: 2, gaveUp: 2, doubled: 1, answerLost: 1, agentJumps: 1 },
		afterEviction: "stays",
		freshViews: true,
		onlyFails: "evict",
		search: {
			limits: { refused: 1, gaveUp: 1 },
			drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c1/web-1"], { attempts: 1 })],
			leaseCallsAtOnce: true,
		},
	},
	{
		name: "lag",
		about: "Two agents with views that lag, reservations that end on evidence, pods that come back",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { agent: 0 }),
			drain("drain-2", ["c1/web-1"], { agent: 1 }),
			drain("drain-3", ["c1/web-2"], { agent: 0 }),
		],
		limits: { evidence: 4, agentJumps: 2, sweeps: 1, cancels: 1, silences: 2, touches: 2, restarts: 1 },
	},
	{
		name: "one-view-lags",
		about: "One eviction, its reservation ended on evidence or by a cancel, and a second agent that has not seen it",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { agent: 0, attempts: 1 }),
			drain("drain-2", ["c1/web-1"], { agent: 1, attempts: 1 }),
		],
		limits: { evidence: 2, cancels: 1, silences: 1, agentJumps: 1 },
		afterEviction: "stays",
		search: { limits: { evidence: 1 }, leaseCallsAtOnce: true },
	},
	{
		name: "pods-end",
		about: "Evicted pods are gone before their reservations are ended: lists and 404s instead of events",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { agent: 0, attempts: 1 }),
			drain("drain-2", ["c1/web-1"], { agent: 1, attempts: 2 }),
		],
		limits: { evidence: 2, cancels: 2, silences: 2, agentJumps: 1 },
		afterEviction: "ends",
	},
	{
		name: "overtaken",
		about: "A list overtakes the watch, whose older events come after it",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { agent: 0, attempts: 1 }),
			drain("drain-2", ["c1/web-1"], { agent: 1, attempts: 3 }),
		],
		limits: { evidence: 2, cancels: 1, silences: 2, agentJumps: 2, touches: 2 },
		afterEviction: "ends",
	},
	{
		name: "come-back",
		about: "A Deployment whose evicted pods come back under other names while views lag",
		clusters: [cluster("c1", 6, { workloads: [{ kind: "Deployment", name: "web", labels: web, replicas: 6 }] })],
		drains: [
			drain("drain-1", ["c1/web-0-1"], { agent: 0 }),
			drain("drain-2", ["c1/web-1-2"], { agent: 1 }),
			drain("drain-3", ["c1/web-2-3"], { agent: 1 }),
			drain("drain-4", ["c1/web-3-4"], { agent: 0 }),
		],
		limits: { evidence: 4, cancels: 3, silences: 3, agentJumps: 2, restarts: 1, touches: 2 },
	},
	{
		name: "replaced",
		about: "Pods fail and come back under the same names while views lag",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { agent: 0, attempts: 4, follows: true }),
			drain("drain-2", ["c1/web-1"], { agent: 0, attempts: 4 }),
		],
		limits: { failures: 2, evidence: 4, agentJumps: 2, cancels: 1, drainJumps: 2 },
	},
	{
		name: "replaced-unseen",
		about: "A pod was replaced under its name, and one of two agents has not seen it yet",
		clusters: [cluster("c1", 3)],
		drains: [
			drain("drain-1", ["c1/web-0"], { agent: 0, attempts: 1 }),
			drain("drain-2", ["c1/web-1"], { agent: 0, attempts: 2 }),
		],
		prepare: (world) => {
			const c1 = world.cluster("c1");
			c1.server.removePod(world.pod("c1", "web-0"));
			// The new pod is created in the first pass and ready after the second.
			for (let pass = 0; pass < 2; pass += 1) for (const step of c1.kubeletSteps()) step.run();
			c1.agents[0]?.seesEverything();
		},
		limits: { evidence: 3, agentJumps: 1, drainJumps: 1 },
		afterEviction: "stays",
	},
	{
		name: "unready",
		about: "A pod that costs nothing because it is not ready becomes ready before it is evicted",
		hasThinRuns: true,
		clusters: [
			cluster("c1", 3, { workloads: [{ kind: "StatefulSet", name: "web", labels: web, replicas: 3, unready: [0] }] }),
		],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c1/web-1"])],
		limits: { drainJumps: 2, agentJumps: 2, gaveUp: 1, evidence: 1 },
	},
	{
		name: "two-budgets",
		about: "Pods under two budgets are granted by both or by none",
		clusters: [
			cluster("c1", 2, {
				workloads: [
					{ kind: "StatefulSet", name: "web", labels: web, replicas: 2 },
					{ kind: "StatefulSet", name: "shared", labels: both, replicas: 2 },
					{ kind: "StatefulSet", name: "front", labels: front, replicas: 2 },
				],
				budgets: twoBudgets,
			}),
		],
		drains: [
			drain("drain-1", ["c1/shared-0"], { attempts: 2 }),
			drain("drain-2", ["c1/web-0"], { attempts: 2 }),
			drain("drain-3", ["c1/front-0"], { attempts: 2 }),
		],
		limits: { ...trouble, cancels: 3, evidence: 2 },
		afterEviction: "stays",
	},
	{
		name: "two-budgets-cancelled",
		about: "A reservation under two budgets is cancelled in one of them",
		clusters: [
			cluster("c1", 2, {
				agents: 1,
				workloads: [
					{ kind: "StatefulSet", name: "web", labels: web, replicas: 2 },
					{ kind: "StatefulSet", name: "shared", labels: both, replicas: 2 },
				],
				budgets: twoBudgets,
			}),
		],
		drains: [drain("drain-1", ["c1/shared-0"], { attempts: 1 }), drain("drain-2", ["c1/web-0"], { attempts: 3 })],
		limits: { cancels: 2, drainJumps: 2, touches: 1, gaveUp: 1, agentJumps: 1 },
		afterEviction: "stays",
		freshViews: true,
	},
	coveredSince({ name: "covered-since", leases: true, writtenHolds: true }),
	coveredSince({ name: "covered-since-by-a-late-watch", leases: false, writtenHolds: true }),
	coveredSince({ name: "covered-since-the-count", leases: false, writtenHolds: false }),
	readySince("ready-since-the-count"),
	{
		...readySince("budget-made-again"),
		about:
			"The same, under a budget that is deleted and made again as it was while its pod is granted under the other one",
		clusters: [
			cluster("c1", 4, {
				workloads: [oneUnready],
				budgets: [
					{ name: "web", selector: web, maxUnavailable: 2 },
					{ name: "front", selector: web, maxUnavailable: 1 },
				],
			}),
		],
		events: [
			{
				name: "budget front is deleted",
				run: (world) => {
					const { server, agents } = world.cluster("c1");
					server.deleteBudget({ namespace: "shop", name: "front" });
					for (const agent of agents) agent.seesEverything({ pods: false, leases: false });
				},
			},
			frontSelectsWeb(false, (world) => world.times("budget front is deleted") > 0),
			becomesReady("web-1", (world) => world.times(coversAll) > 0),
		],
	},
	{
		...readySince("unready-hides-reserved"),
		about: "One of two agents sees a reservation late, and a pod that became ready while its commit was on the way",
		drains: [drain("drain-1", ["c1/web-0"], { agent: 0, attempts: 1 })],
		events: [
			frontSelectsWeb(false),
			begins("drain-2", "c1/web-1", (world) => world.times(coversAll) > 0 && waitsFor(world, "drain-1", "evict"), {
				agent: 1,
				attempts: 1,
			}),
			{
				name: "agent-1 sees the Leases",
				when: (world) => waitsFor(world, "drain-2", "acquire web") && !waitsFor(world, "drain-2", "acquire front"),
				run: (world) => void agent(world, 1).seesEverything(),
			},
			becomesReady("web-1", (world) => waitsFor(world, "drain-2", "commit front")),
		],
		limits: {},
		holdsBack: (step, world) => {
			const { actor, what, kind } = step;
			if (actor === "c1/agent-1" && kind === "watch") return world.times("web-1 becomes ready") === 0;
			if (isCall(step, "drain-1", "evict")) return world.drains.length < 2;
			if (actor !== "drain-2") return false;
			if (what.startsWith("acquire web")) return world.times("agent-1 sees the Leases") === 0;
			return (
				what.startsWith("commit front") &&
				(world.pod("c1", "web-1").ready ? agent(world, 1).podRevision : -1) < revisionOf(world)
			);
		},
	},
];

/** Returns the version of the latest change of any pod of c1. */
function revisionOf(world: World): number {
	return Number(world.cluster("c1").server.podEvents.at(-1)?.resourceVersion ?? 0);
}

/** Returns an event: budget front begins to cover all pods. With `leases`, the watches on Leases have shown everything by then. */
function frontSelectsWeb(leases: boolean, when: (world: World) => boolean = () => true): EventData<World> {
	return {
		name: coversAll,
		when: (world) => when(world) && reservationsIn(world.cluster("c1").server).some(({ pod }) => pod === "web-0"),
		run: (world) => {
			const { server, agents } = world.cluster("c1");
			const spec = { selector: { matchLabels: web }, maxUnavailable: 1 };
			server.putBudget({ name: { namespace: "shop", name: "front" }, spec });
			for (const agent of agents) agent.seesEverything({ pods: false, leases });
		},
	};
}

/**
 * Returns a scenario: a candidate is not ready when it is counted, and ready when its commit counts again. It must not make up for a pod
 * that was reserved in between.
 */
function readySince(name: string): Scenario<World> {
	const base = coveredSince({ name, leases: false, writtenHolds: false });
	return {
		...base,
		about: "A budget begins to cover a pod that was granted under another one, and a candidate becomes ready",
		clusters: base.clusters.map((each) => ({ ...each, workloads: [oneUnready] })),
		events: [frontSelectsWeb(false), becomesReady("web-1", (world) => world.times(coversAll) > 0)],
	};
}

/** Returns a scenario: budget front begins to cover a pod that is reserved under budget web. `leases` is as for frontSelectsWeb(). */
function coveredSince({
	name,
	leases,
	writtenHolds,
}: {
	readonly name: string;
	readonly leases: boolean;
	readonly writtenHolds: boolean;
}): Scenario<World> {
	return {
		writtenHolds,
		name,
		about: `A budget begins to cover a pod that was granted under another one${leases ? "" : ", and the Leases are seen late"}`,
		clusters: [
			cluster("c1", 4, {
				budgets: [
					{ name: "web", selector: web, maxUnavailable: 2 },
					{ name: "front", selector: front, maxUnavailable: 1 },
				],
			}),
		],
		drains: [
			drain("drain-1", ["c1/web-0"], { agent: 0, attempts: 1 }),
			drain("drain-2", ["c1/web-1"], { agent: 1, attempts: 3 }),
		],
		events: [frontSelectsWeb(leases)],
		limits: { drainJumps: 1, agentJumps: 1, gaveUp: 1, evidence: 2 },
		afterEviction: "stays",
		configChanges: true,
	};
}
