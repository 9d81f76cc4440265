// Scenarios of plugins that discover their fleet with the shipped code, through one agent or through several contexts. Some members do not
// answer, and descriptions grow old or change before they are used.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, oneUnavailable } from "./scenario-parts.ts";
import { drainSleeps, isCall, server, waitsFor } from "./staging.ts";
import type { World } from "./world.ts";

const both = ["c1", "c2"];

function declares(id: string, members: readonly string[]): EventData<World> {
	return {
		name: `${id} declares ${members.join(" and ")}`,
		run: (world) => world.cluster(id).declares(members, []),
	};
}

const budgetAppears: EventData<World> = {
	name: "c2 gets a budget that allows nothing",
	when: (world) => !waitsFor(world, "drain-1", "describe"),
	run: (world) =>
		server(world, "c2").putBudget({
			name: { namespace: "shop", name: "web" },
			spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 0 },
		}),
};

function hasBudget(world: World): boolean {
	return server(world, "c2").budgets.size > 0;
}

export const meetingScenarios: readonly Scenario<World>[] = [
	{
		name: "met",
		about: "The budget is in the member that no context leads to, and members, agents and routes do not answer",
		clusters: [cluster("c1", 2, { budgets: [] }), cluster("c2", 1, { agents: 1 })],
		drains: [
			drain("drain-1", ["c1/web-0"], { meets: [], attempts: 2 }),
			drain("drain-2", ["c1/web-1"], { meets: ["c2"], attempts: 2 }),
		],
		limits: { lost: 3, gaveUp: 3, answerLost: 2, restarts: 1, doubled: 1 },
		isWired: true,
	},
	{
		name: "met-in-silence",
		about: "A member does not answer when its fleet is met, or when its budgets are listed",
		clusters: [cluster("c1", 2, { agents: 1, budgets: [] }), cluster("c2", 1, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { meets: [], attempts: 2 })],
		limits: { lost: 8 },
		mayFail: (_, what) => /^(describe|list budgets)/.test(what),
		isWired: true,
		holdsBack: () => false,
	},
	{
		name: "met-without-a-member",
		about: "A member does not say who it is, whoever asks, while the agent that a plugin meets answers",
		clusters: [cluster("c1", 2, { agents: 1, budgets: [] }), cluster("c2", 1, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { meets: [], attempts: 2 })],
		limits: { lost: 8 },
		mayFail: (_, what) => what.startsWith("describe"),
		isWired: true,
		holdsBack: (step) =>
			isCall(step, "c1/agent-0", "describe at c2/agent-0") || isCall(step, "drain-1", "describe is lost"),
	},
	{
		name: "met-before-a-budget",
		about: "A budget is made after a member told of its budgets, and the answer comes late",
		clusters: [cluster("c1", 2, { agents: 1, budgets: [] }), cluster("c2", 1, { agents: 1, budgets: [] })],
		drains: [drain("drain-1", ["c1/web-0"], { meets: [], attempts: 2 })],
		events: [budgetAppears, drainSleeps("drain-1", hasBudget)],
		limits: {},
		configChanges: true,
		splitAnswers: true,
		isWired: true,
		probe: false,
		holdsBack: (step, world) =>
			isCall(step, "drain-1", "gets the answer to describe") && world.times("drain-1 sleeps") === 0,
	},
	{
		name: "met-strangers",
		about: "A member declares another fleet until a plugin has given up",
		clusters: [cluster("c1", 2, { agents: 1 }), cluster("c2", 1, { agents: 1, fleet: ["c2"] })],
		drains: [
			drain("drain-1", ["c1/web-0"], { meets: [], attempts: 2 }),
			drain("drain-2", ["c1/web-1"], { meets: ["c2"], attempts: 2 }),
		],
		events: [{ ...declares("c2", both), when: ({ drains }) => drains.some(({ finished }) => finished) }],
		limits: { lost: 1, gaveUp: 1 },
		configChanges: true,
		isWired: true,
		probe: false,
	},
	{
		name: "fleet-changes-when-met",
		about: "A third member is added between the meeting and the eviction, and it alone has a budget",
		clusters: [
			cluster("c1", 2, { agents: 1, budgets: [], fleet: both }),
			cluster("c2", 1, { agents: 1, budgets: [], fleet: both }),
			cluster("c3", 1, { agents: 1, budgets: oneUnavailable, fleet: ["c1", "c2", "c3"] }),
		],
		drains: [
			drain("drain-1", ["c1/web-0", "c1/web-1"], { meets: [], attempts: 2 }),
			drain("drain-2", ["c2/web-0"], { meets: ["c1"], attempts: 2 }),
		],
		events: [declares("c1", ["c1", "c2", "c3"]), declares("c2", ["c1", "c2", "c3"])],
		limits: { gaveUp: 1, answerLost: 1, drainJumps: 1 },
		configChanges: true,
		isWired: true,
		probe: false,
	},
];
