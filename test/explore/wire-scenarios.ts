// Scenarios whose calls go over the wire in every run: what is lost, changed or mistaken between the bytes of a caller and those of an
// agent.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain } from "./scenario-parts.ts";
import { agent, begins, cancels, isCall, isCancelled, nobodyIsEvicted, waitsFor } from "./staging.ts";
import type { World } from "./world.ts";

function greets(id: string): EventData<World> {
	return { name: `an agent of ${id} greets`, run: (world) => agent(world, 0, id).greets() };
}

export const wireScenarios: readonly Scenario<World>[] = [
	{
		name: "wired",
		about: "Three drains in two clusters by the shipped client and server, and calls that fail",
		clusters: [cluster("c1", 2), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c2/web-0"]), drain("drain-3", ["c2/web-1"])],
		limits: { lost: 1, gaveUp: 2, doubled: 2, answerLost: 2, restarts: 1 },
		afterEviction: "stays",
		isWired: true,
	},
	{
		name: "wired-line",
		about: "Callers wait in the line of one agent, to which the others pass them on",
		clusters: [cluster("c1", 3)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c1/web-1"]), drain("drain-3", ["c1/web-2"])],
		limits: { lost: 1, gaveUp: 2, answerLost: 1, crashes: 1 },
		lineHost: true,
		isWired: true,
	},
	{
		name: "passed-on",
		about: "A drain with a context of one cluster alone, whose agents pass its calls on to the other member",
		clusters: [cluster("c1", 2), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0"], { through: "c1" }), drain("drain-2", ["c2/web-0"])],
		limits: { lost: 1, gaveUp: 2, answerLost: 2, crashes: 1 },
		isWired: true,
	},
	{
		name: "wired-fence",
		about: "A reservation is cancelled while its eviction is on its way, and the confirmation goes over the wire",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			cancels(0, "web-0", (world) => waitsFor(world, "drain-1", "evict")),
			begins("drain-2", "c1/web-1", isCancelled),
		],
		limits: {},
		afterEviction: "stays",
		isWired: true,
		holdsBack: (step, world) => isCall(step, "drain-1", "evict") && nobodyIsEvicted(world),
	},
	{
		name: "wired-greetings",
		about: "Members greet each other over the wire, while a round runs",
		clusters: [cluster("c1", 2, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"])],
		events: [greets("c1"), greets("c2")],
		limits: { lost: 1, answerLost: 1 },
		afterEviction: "stays",
		knowsMembers: true,
		configChanges: true,
		isWired: true,
		// All events have to happen.
		holdsBack: () => false,
	},
];
