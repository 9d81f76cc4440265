// Agents whose views are kept by the shipped watches, in every run: what a line of a stream, its end, or another connection
// does to a view.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain } from "./scenario-parts.ts";
import { agent, begins, fails, fallsSilent, server } from "./staging.ts";
import type { World } from "./world.ts";

const unreadable = "agent-0 cannot read an event of a pod";
const silent = "the watches of agent-0 fall silent";

/** A pod of c1 goes at once, as one does whose node is gone. */
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
	{
		name: "deleted-while-listed",
		about: "A watch begins with a list of pods in which one of them goes before its end, and then a round counts",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [],
		// A list begins as far back as it may.
		prepare: (world) => {
			server(world).pickListVersion = (count) => count - 1;
		},
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
		holdsBack: ({ what }, world) => what === "opens its watch of pods" && world.times("web-2 disappears") === 0,
	},
	{
		name: "unreadable-event",
		about: "A watch cannot read the event of a pod that fails, and goes on from before it",
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
			// A view that has come so far has seen the failure, too: before, a round could not know of it.
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
];
