// Scenarios that each force one interleaving of agents that see late or whose watches are dead. Safeguards keep their counts right.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, oneUnavailable as one, web } from "./scenario-parts.ts";
import type { Step } from "./scheduler.ts";
import {
	acquisitionsBy,
	agent,
	begins,
	cancels,
	ended,
	endsOnEvidence,
	evictedAllTheSame,
	evictedAt,
	fails,
	fallsSilent,
	isCall,
	isDeleted,
	isDone,
	isHeldBy,
	nobodyIsEvicted,
	reserved,
	server,
	waitsASecond,
	waitsFor,
} from "./staging.ts";
import type { World } from "./world.ts";

const first = drain("drain-1", ["c1/web-0"], { attempts: 1, agent: 0 });
const two = [{ name: "web", selector: web, maxUnavailable: 2 }];

function isWatch({ kind, actor }: Step, agentName: string): boolean {
	return kind === "watch" && actor === agentName;
}

function touchIsAnswered({ network }: World): boolean {
	return network.answered("c1/agent-1").some((what) => what.startsWith("touch pod"));
}

function isAnswerToTouch({ actor, what }: Step): boolean {
	return actor === "c1/agent-1" && what.startsWith("gets the answer to touch pod");
}

/** Whether drain-2 holds its Lease and the agent knows it, so that the count has begun. */
function mayHaveJoined(world: World): boolean {
	const isWritten = isHeldBy(world, "drain-2");
	return isWritten && !world.network.answered("c1/agent-1").some((what) => what.startsWith("update Lease"));
}

export const stagedViewScenarios: readonly Scenario<World>[] = [
	{
		name: "ended-on-evidence-unseen",
		about: "A reservation ended on what one agent has seen, and the other one counts that has not seen it for a second",
		clusters: [cluster("c1", 3)],
		drains: [first],
		events: [
			endsOnEvidence(0, (world) => !nobodyIsEvicted(world) && agent(world, 0).podRevision >= evictedAt(world, "web-0")),
			begins("drain-2", "c1/web-1", (world) => ended(world) > 0, { agent: 1, attempts: 1 }),
			waitsASecond(1, (world) => world.drains.length > 1),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		holdsBack: (step) => isWatch(step, "c1/agent-1"),
	},
	{
		name: "marked-and-not-ended",
		about: "A cancel has marked a reservation and gets no further, and its eviction is still on the way",
		clusters: [cluster("c1", 3)],
		drains: [first],
		events: [
			cancels(1, "web-0", (world) => waitsFor(world, "drain-1", "evict")),
			begins("drain-2", "c1/web-1", (world) => reserved(world, "web-0")?.cancelling ?? false, { attempts: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) =>
			(isCall(step, "drain-1", "evict") || isCall(step, "c1/agent-1", "touch")) &&
			nobodyIsEvicted(world) &&
			!isDone(world, "drain-2"),
	},
	{
		name: "replaced-and-unseen",
		about: "A pod was replaced under its name, and who looks for evidence has not seen the new one, which is reserved",
		clusters: [cluster("c1", 3)],
		drains: [],
		prepare: (world) => {
			const c1 = world.cluster("c1");
			c1.server.removePod(world.pod("c1", "web-0"));
			// The new pod is created in the first pass and ready after the second.
			for (let pass = 0; pass < 2; pass += 1) for (const step of c1.kubeletSteps()) step.run();
			agent(world, 0).seesEverything();
			world.startDrain(first);
		},
		events: [
			endsOnEvidence(1, (world) => waitsFor(world, "drain-1", "evict")),
			begins(
				"drain-2",
				"c1/web-1",
				(world) =>
					world.times("agent-1 ends reservations on evidence") > 0 && world.network.waiting("c1/agent-1").length === 0,
				{ attempts: 1 },
			),
		],
		limits: {},
		afterEviction: "stays",
		holdsBack: (step, world) =>
			isWatch(step, "c1/agent-1") ||
			(isCall(step, "drain-1", "evict") && nobodyIsEvicted(world) && !isDone(world, "drain-2")),
	},
	{
		name: "failed-since-the-count",
		about: "A pod fails after a round has counted, behind a dead watch, and the round's commit counts again",
		writtenHolds: false,
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [first],
		events: [
			fallsSilent(0, (world) => waitsFor(world, "drain-1", "commit")),
			fails("web-2", (world) => world.times("the watches of agent-0 fall silent") > 0),
			// An agent that was stopped for long has a dead watch when it is asked. So it writes the hold, and no commit counts again.
			evictedAllTheSame(
				"web-0",
				"web-2 fails",
				"though web-2 had failed before its commit",
				(world) => acquisitionsBy(world, "drain-1") === 0,
			),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		holdsBack: (step, world) =>
			(isCall(step, "drain-1", "commit") && world.times("web-2 fails") === 0) ||
			(isWatch(step, "c1/agent-0") && !isDone(world, "drain-1")),
	},
	{
		name: "counted-during-an-earlier-touch",
		about:
			"While the answer to an agent's touch of its own pod is on its way, it counts a new Lease, and has not seen a pod go since",
		splitAnswers: true,
		leasesExist: false,
		clusters: [
			{
				...cluster("c1", 3, {
					budgets: [...one, { name: "side", selector: { app: "side" }, maxUnavailable: 1 }],
				}),
				workloads: [
					...cluster("c1", 3).workloads,
					{ kind: "StatefulSet", name: "side", labels: { app: "side" }, replicas: 2 },
				],
			},
		],
		drains: [drain("drain-1", ["c1/side-0"], { agent: 1, attempts: 1 })],
		events: [
			{
				name: "web-0 was evicted",
				when: (world) => touchIsAnswered(world) && agent(world, 1).podRevision >= server(world).revision,
				run: (world) => {
					world.oracle.evictedBefore(world.cluster("c1"), world.pod("c1", "web-0"));
					agent(world, 0).seesEverything();
				},
			},
			begins("drain-2", "c1/web-1", (world) => world.times("web-0 was evicted") > 0 && touchIsAnswered(world), {
				agent: 1,
				attempts: 1,
			}),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		holdsBack: (step, world) =>
			(isWatch(step, "c1/agent-1") && step.what.startsWith("sees pod") && world.times("web-0 was evicted") > 0) ||
			((isAnswerToTouch(step) || (step.kind === "timer" && step.actor === "c1/agent-1")) && !mayHaveJoined(world)),
	},
	evidentBefore(
		"evident-before-the-restore",
		"A round commits through an agent whose watches are dead since a restore, and another one keeps the line",
		{ lineHost: true, writtenHolds: false },
		"drain-2",
	),
	evidentBefore(
		"acquired-before-the-restore",
		"A round acquires through an agent whose watches are dead since a restore",
		{ writtenHolds: true },
		"drain-2",
	),
	evidentBefore(
		"looked-for-before-the-restore",
		"An agent whose watches are dead since a restore looks for evidence",
		{},
		endsOnEvidence(1, (world) => waitsFor(world, "drain-1", "evict")),
	),
];

/**
 * Returns a scenario: the watches of an agent are dead since a restore. Its view shows that a pod is ending, but the pod is alive and
 * reserved. `acts` makes that agent look for evidence, or is a drain that asks it.
 */
function evidentBefore(
	name: string,
	about: string,
	more: Partial<Scenario<World>>,
	acts: "drain-2" | EventData<World>,
): Scenario<World> {
	const hasActed = (world: World): boolean =>
		acts === "drain-2"
			? isDone(world, acts)
			: world.times(acts.name) > 0 && world.network.waiting("c1/agent-1").length === 0;
	return {
		name,
		about: `${about}: it shows that a pod ends which is there`,
		isRestored: true,
		clusters: [cluster("c1", 4, { budgets: acts === "drain-2" ? two : one })],
		drains: [],
		events: [
			isDeleted("web-0", { isSeen: true }),
			{
				name: "etcd is restored",
				when: (world) => world.times("web-0 is deleted") > 0,
				run: (world) => world.restore({ bumped: true }),
			},
			begins("drain-1", "c1/web-0", (world) => world.times("etcd is restored") > 0 && agent(world, 0).isWatching, {
				attempts: 1,
			}),
			acts === "drain-2"
				? begins(acts, "c1/web-1", (world) => waitsFor(world, "drain-1", "evict"), { agent: 1, attempts: 1 })
				: acts,
			begins("drain-3", "c1/web-2", hasActed, { attempts: 1, pods: ["c1/web-2", "c1/web-3"] }),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		holdsBack: (step, world) =>
			isWatch(step, "c1/agent-1") || (isCall(step, "drain-1", "evict") && !isDone(world, "drain-3")),
		...more,
	};
}
