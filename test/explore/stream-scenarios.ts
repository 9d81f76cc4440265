// Scenarios in which the shipped watches keep the agents' views in every run: what a line of a stream, its end or another connection does
// to a view.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet } from "./scenario-parts.ts";
import type { Step } from "./scheduler.ts";
import {
	agent,
	becomesReady,
	begins,
	endsOnEvidence,
	fails,
	fallsSilent,
	isCall,
	isDeleted,
	isDone,
	lists,
	server,
	waitsASecond,
	waitsFor,
} from "./staging.ts";
import type { World } from "./world.ts";

const unreadable = "agent-0 cannot read an event of a pod";
const ended = "the watch of agent-0 on pods ends normally";
const minute = "a minute passes for agent-0";
const silent = "the watches of agent-0 fall silent";

/** Returns an event: a pod of c1 disappears at once, like a pod whose node is gone. */
function disappears(pod: string, when: (world: World) => boolean): EventData<World> {
	return {
		name: `${pod} disappears`,
		when,
		run: (world) => {
			const c1 = world.cluster("c1");
			const gone = world.pod("c1", pod);
			const slot = c1.slotOf(gone);
			c1.server.removePod(gone);
			if (slot) slot.down ??= { cause: "involuntary", revision: c1.server.revision };
		},
	};
}

function cannotReadPod(when: (world: World) => boolean): EventData<World> {
	return {
		name: unreadable,
		when: (world) => when(world) && (agent(world, 0).streams?.hasPodEvent ?? false),
		run: (world) => agent(world, 0).streams?.garblesPodEvent(),
	};
}

function hasEnded(world: World): boolean {
	return world.times("agent-1 ends reservations on evidence") > 0;
}

function isRestored(world: World): boolean {
	return world.times("etcd is restored") > 0;
}

/** Lets the first page of agent-0's list be read, and its answer arrive, at this moment. */
function listsFirstPage({ network }: World): void {
	for (const asked of ["list pods", "gets the answer to list pods"]) {
		const steps: Step[] = [];
		network.addSteps(steps);
		steps.find((step) => isCall(step, "c1/agent-0", asked))?.run();
	}
}

export const streamScenarios: readonly Scenario<World>[] = [
	{
		name: "streamed",
		about: "Three drains in two clusters, whose agents watch pods and Leases over streams that end, expire and break",
		clusters: [cluster("c1", 3), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c1/web-1"]), drain("drain-3", ["c2/web-0"])],
		limits: { silences: 6, failures: 1, touches: 1, restarts: 1, agentJumps: 1, evidence: 1, sweeps: 1 },
		afterEviction: "stays",
		isStreamed: true,
	},
	goesUnwatched("deleted-while-listed", {
		about: "A watch begins with a list of pods in which one of them goes before its end, and then a round counts",
		waits: (what) => what === "opens its watch of pods",
		// A list begins as far back as a watch cache allows.
		prepare: (world) => {
			server(world).pickListVersion = (count) => count - 1;
		},
	}),
	goesUnwatched("gone-before-a-list", {
		about: "A pod goes while no watch runs, and then a round counts from a view with a new list",
		waits: (what) => what.startsWith("opens"),
	}),
	{
		name: "unreadable-event",
		about: "A watch cannot read the event of a pod that fails, and lists again",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [],
		events: [
			fails("web-2", () => true),
			cannotReadPod((world) => world.times("web-2 fails") > 0),
			{
				name: "somebody writes to web-1",
				when: (world) => world.times(unreadable) > 0,
				run: (world) => void server(world).changePod(world.pod("c1", "web-1"), {}),
			},
			// A view at this revision has seen the failure, too. Until then, a round could not know of it.
			begins(
				"drain-1",
				"c1/web-0",
				(world) => world.times("somebody writes to web-1") > 0 && agent(world, 0).podRevision >= server(world).revision,
			),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		isStreamed: true,
		streamsLists: true,
		holdsBack: ({ what }, world) => what.startsWith("sees pod") && world.times(unreadable) === 0,
	},
	{
		name: "reopened-late",
		about: "A watch ends normally, and the next one is open when the view has been dead for a while",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [],
		events: [
			{
				name: ended,
				when: () => true,
				run: (world) => agent(world, 0).streams?.endsPodWatch(),
			},
			fails("web-2", (world) => world.times(ended) > 0),
			{
				name: minute,
				when: (world) => world.times("web-2 fails") > 0,
				run: (world) => agent(world, 0).clock.jump(60_000),
			},
			begins("drain-1", "c1/web-0", (world) => world.times(minute) > 0),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		isStreamed: true,
		streamsLists: true,
		holdsBack: ({ what }, world) => what.startsWith("opens") && world.times(minute) === 0,
	},
	evidentInLostHistory(
		"restored-to-older-versions",
		"etcd comes back from a backup, and a watch that lists anew is shown older versions than it has seen",
		{ isHot: false },
	),
	evidentInLostHistory(
		"restored-under-a-watch",
		"etcd comes back from a backup under an API server that runs on, and a watch is shown an event older than the last",
		{ isHot: true },
	),
	{
		name: "listed-over-two-connections",
		about:
			"etcd comes back from a backup between two pages of a list, and soon has versions past those of the first page",
		isRestored: true,
		clusters: [cluster("c1", 0, { agents: 1, workloads: [statefulSet(3, { unready: [1] })] })],
		drains: [],
		events: [
			becomesReady("web-1", () => true),
			fallsSilent(0, (world) => world.times("web-1 becomes ready") > 0),
			lists(0, (world) => world.times(silent) > 0),
			{
				name: "etcd is restored",
				when: (world) => waitsFor(world, "c1/agent-0", "list pods"),
				run: (world) => {
					listsFirstPage(world);
					world.restore();
					server(world).revision += 5_000;
				},
			},
			begins("drain-1", "c1/web-0", isRestored, { attempts: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		isStreamed: true,
		holdsBack: ({ actor, kind, what }, world) =>
			!isRestored(world) && actor === "c1/agent-0" && (kind === "watch" || what.startsWith("list pods")),
	},
];

/** Returns a scenario: a pod goes while the steps that `waits` names are held back, and a round counts once the watch runs again. */
function goesUnwatched(
	name: string,
	{ waits, ...more }: Pick<Scenario<World>, "about" | "prepare"> & { readonly waits: (what: string) => boolean },
): Scenario<World> {
	return {
		name,
		...more,
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [],
		events: [
			fallsSilent(0),
			disappears("web-2", (world) => world.times(silent) > 0),
			begins("drain-1", "c1/web-0", (world) => world.times("web-2 disappears") > 0 && agent(world, 0).isWatching),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		isStreamed: true,
		streamsLists: true,
		holdsBack: ({ what }, world) => waits(what) && world.times("web-2 disappears") === 0,
	};
}

/**
 * Returns a scenario: the agents have seen a pod terminate. etcd comes back with that pod alive, and the pod is reserved. Agent 1 then
 * looks for evidence, and what it saw before the restore must not count.
 */
function evidentInLostHistory(name: string, about: string, { isHot }: { readonly isHot: boolean }): Scenario<World> {
	return {
		name,
		about,
		isRestored: true,
		clusters: [cluster("c1", 4)],
		drains: [],
		events: [
			isDeleted("web-0", { isSeen: true }),
			{
				name: "etcd is restored",
				when: (world) => world.times("web-0 is deleted") > 0,
				run: (world) => {
					world.restore({ isHot });
					server(world).changePod(world.pod("c1", "web-3"), {});
					// The other agent notices the restore by its lists.
					agent(world, 0).isWatching = false;
				},
			},
			begins("drain-1", "c1/web-0", isRestored, { attempts: 1 }),
			endsOnEvidence(1, (world) => {
				const { isWatching, streams } = agent(world, 1);
				return waitsFor(world, "drain-1", "evict") && isWatching && streams?.hasPodEvent === false;
			}),
			begins(
				"drain-3",
				"c1/web-2",
				(world) => hasEnded(world) && world.network.waiting("c1/agent-1").length === 0 && agent(world, 0).isWatching,
				{ attempts: 1 },
			),
			waitsASecond(0, (world) => world.drains.length > 1),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		writtenHolds: true,
		isStreamed: true,
		streamsLists: true,
		holdsBack: (step, world) =>
			(isRestored(world) && !hasEnded(world) && step.kind === "watch" && step.actor === "c1/agent-0") ||
			(isCall(step, "drain-1", "evict") && !isDone(world, "drain-3")),
	};
}
