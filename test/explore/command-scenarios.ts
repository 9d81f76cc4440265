// Scenarios of deletes, dry runs, pauses and stops, and of errors of an API server that has executed the request or will execute it later.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain } from "./scenario-parts.ts";
import { begins, isCall, isCancelled, nobodyIsEvicted, waitsToSend } from "./staging.ts";
import type { Step } from "./scheduler.ts";
import type { World } from "./world.ts";

/** Pauses every plugin process, as the pause key of its screen does. */
const pauseAll: EventData<World> = {
	name: "all drains are paused",
	run: (world) => {
		for (const each of world.drains) each.pause();
	},
};
const resumeAll: EventData<World> = {
	name: "all drains are resumed",
	run: (world) => {
		for (const each of world.drains) each.resume();
	},
};

const stopFirst = "drain-1 is told to stop";

/** Whether this is the end of the first drain's login, and the event has not happened yet. */
function logsInUntil(event: string, { kind, actor }: Step, world: World): boolean {
	return kind === "timer" && actor === "drain-1" && waitsToSend(world, "drain-1") && world.times(event) === 0;
}

/** Events: all drains are paused and then resumed, at most twice. */
export const pauses: readonly EventData<World>[] = [
	{ ...pauseAll, times: 2, when: (world) => world.times(pauseAll.name) === world.times(resumeAll.name) },
	{ ...resumeAll, times: 2, when: (world) => world.times(pauseAll.name) > world.times(resumeAll.name) },
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
		name: "timed-out-at-the-server",
		about: "The API server answers 504, and carries the eviction out when another drain has had its grant",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1, serverErrors: true })],
		events: [begins("drain-2", "c1/web-1", isCancelled)],
		limits: { gaveUp: 1 },
		afterEviction: "stays",
		freshViews: true,
		onlyFails: "evict pod web-0",
		holdsBack: (step, world) => isCall(step, "drain-1", "evict") && nobodyIsEvicted(world),
	},
	{
		name: "server-errors",
		about: "API servers answer 500 and 504 to evictions that they carry out, at once or late",
		clusters: [cluster("c1", 2), cluster("c2", 2)],
		drains: [
			drain("drain-1", ["c1/web-0"], { serverErrors: true }),
			drain("drain-2", ["c2/web-0"], { serverErrors: true, deletes: true }),
		],
		limits: { answerLost: 3, gaveUp: 2, lost: 1, touches: 1 },
		onlyFails: "evict",
	},
	{
		name: "paused",
		about: "Drains are paused and resumed at any moment",
		clusters: [cluster("c1", 3), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0", "c1/web-1"]), drain("drain-2", ["c2/web-0"])],
		events: pauses,
		limits: { gaveUp: 1, answerLost: 1, stops: 1 },
	},
	{
		name: "paused-while-it-logs-in",
		about: "A run is paused while a pod that no budget covers waits for the login",
		clusters: [cluster("c1", 3, { agents: 1, budgets: [] })],
		drains: [drain("drain-1", ["c1/web-0"], { firstSendAfterMs: 500 })],
		events: [
			{ ...pauseAll, when: (world) => waitsToSend(world, "drain-1") },
			{ ...resumeAll, when: (world) => world.times(pauseAll.name) > 0 && !waitsToSend(world, "drain-1") },
		],
		limits: {},
		freshViews: true,
		probe: false,
		holdsBack: ({ kind, actor }, world) => kind === "timer" && actor === "drain-1" && world.times(pauseAll.name) === 0,
	},
	{
		name: "paused-with-a-grant",
		about: "A run is paused while a pod that has its grant waits for the login",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { firstSendAfterMs: 500 })],
		events: [
			{ ...pauseAll, when: (world) => waitsToSend(world, "drain-1") },
			{ ...resumeAll, when: (world) => world.times(pauseAll.name) > 0 && !waitsToSend(world, "drain-1") },
		],
		limits: {},
		freshViews: true,
		probe: false,
		holdsBack: (step, world) => logsInUntil(pauseAll.name, step, world),
	},
	{
		name: "stopped-with-a-grant",
		about: "A run is stopped while a pod that has its grant waits for the login",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { firstSendAfterMs: 500 })],
		events: [
			{
				name: stopFirst,
				when: (world) => waitsToSend(world, "drain-1"),
				run: (world) => world.drains.find(({ name }) => name === "drain-1")?.stop(),
			},
		],
		limits: {},
		freshViews: true,
		probe: false,
		holdsBack: (step, world) => logsInUntil(stopFirst, step, world),
	},
];
