// What a command can ask of the engine of evictions besides to evict: deletes, a dry run, a pause.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain } from "./scenario-parts.ts";
import type { World } from "./world.ts";

/** By the key on the screen of every drain, and again. */
const pauses: readonly EventData<World>[] = [
	{
		name: "all drains are paused",
		times: 2,
		when: (world) => world.times("all drains are paused") === world.times("all drains are resumed"),
		run: (world) => {
			for (const each of world.drains) each.pause();
		},
	},
	{
		name: "all drains are resumed",
		times: 2,
		when: (world) => world.times("all drains are paused") > world.times("all drains are resumed"),
		run: (world) => {
			for (const each of world.drains) each.resume();
		},
	},
];

export const commandScenarios: readonly Scenario<World>[] = [
	{
		name: "deletes",
		about: "Pods are deleted instead of evicted, while reservations are cancelled and requests arrive late",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [
			drain("drain-1", ["c1/web-0"], { attempts: 1, deletes: true }),
			drain("drain-2", ["c1/web-1"], { attempts: 2, deletes: true }),
		],
		limits: { cancels: 2, drainJumps: 2, gaveUp: 2, answerLost: 1, touches: 1, refused: 1, agentJumps: 1 },
		afterEviction: "stays",
		onlyFails: "evict",
	},
	{
		name: "dry-run",
		about: "A dry run on the server looks at a budget that is used up, beside a drain that uses it",
		clusters: [cluster("c1", 2), cluster("c2", 2)],
		drains: [
			drain("dry", ["c1/web-0", "c1/web-1", "c2/web-0"], { dryRun: true, attempts: 6 }),
			drain("drain-1", ["c2/web-1"]),
		],
		limits: { lost: 1, gaveUp: 1, answerLost: 1, failures: 1 },
	},
	{
		name: "paused",
		about: "Drains are paused and resumed at any moment",
		clusters: [cluster("c1", 3), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0", "c1/web-1"]), drain("drain-2", ["c2/web-0"])],
		events: pauses,
		limits: { gaveUp: 1, answerLost: 1, stops: 1 },
	},
];
