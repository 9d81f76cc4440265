// Scenarios that each force one interleaving: a budget is made while a decision that could not know of it is under way.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, web } from "./scenario-parts.ts";
import { evictedAllTheSame, nobodyIsEvicted, reserved, server, waitsToSend } from "./staging.ts";
import type { World } from "./world.ts";

const two = [{ name: "web", selector: web, maxUnavailable: 2 }];

/** Longer than a grant may be used without a new check. The same limit holds for lists that show no budget over a pod. */
const slowLoginMs = 1_500;

/** Together, these two take more than a second, and each takes less. */
const lateAnswerMs = 800;
const quickLoginMs = 400;

/** Whether drain-1 has not received a count that an agent has made, and no pod has been evicted yet. */
function waitsForCount(world: World): boolean {
	return world.network.answered("drain-1").some((what) => what.startsWith("acquire")) && nobodyIsEvicted(world);
}

function makesStrict(name: string, when: (world: World) => boolean): EventData<World> {
	return {
		name: `budget ${name} is made`,
		when,
		run: (world) => {
			const spec = { selector: { matchLabels: web }, maxUnavailable: 0 };
			server(world).putBudget({ name: { namespace: "shop", name }, spec });
		},
	};
}

export const lateBudgetScenarios: readonly Scenario<World>[] = [
	{
		name: "login-after-lists",
		about: "The first budget of a namespace is made after its budgets were listed, while the plugin logs in to evict",
		clusters: [cluster("c1", 3, { agents: 1, budgets: [] })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 2, firstSendAfterMs: slowLoginMs })],
		events: [makesStrict("web", (world) => waitsToSend(world, "drain-1"))],
		limits: {},
		afterEviction: "stays",
		configChanges: true,
		freshViews: true,
		probe: false,
		holdsBack: (step, world) =>
			step.kind === "timer" && step.actor === "drain-1" && world.times("budget web is made") === 0,
	},
	{
		name: "login-after-grant",
		about: "A budget without room is made after a pod was granted under another one, while the plugin logs in to evict",
		clusters: [cluster("c1", 3, { agents: 1, budgets: two })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 2, firstSendAfterMs: slowLoginMs })],
		events: [
			makesStrict(
				"strict",
				(world) => reserved(world, "web-0") !== undefined && waitsToSend(world, "drain-1") && nobodyIsEvicted(world),
			),
			evictedAllTheSame("web-0", "budget strict is made", `${slowLoginMs} ms after budget strict was made`),
		],
		limits: {},
		afterEviction: "stays",
		configChanges: true,
		freshViews: true,
		probe: false,
		holdsBack: (step, world) =>
			step.kind === "timer" &&
			step.actor === "drain-1" &&
			reserved(world, "web-0") !== undefined &&
			world.times("budget strict is made") === 0,
	},
	{
		name: "count-answered-late",
		about:
			"A budget without room is made while a count is on its way back, and the login takes what is left of a second",
		clusters: [cluster("c1", 3, { agents: 1, budgets: two })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 2, firstSendAfterMs: quickLoginMs })],
		events: [
			makesStrict("strict", waitsForCount),
			{
				name: "the answer takes its time",
				when: (world) => waitsForCount(world) && world.times("budget strict is made") > 0,
				run: (world) => world.drains.find(({ name }) => name === "drain-1")?.clock.jump(lateAnswerMs),
			},
			evictedAllTheSame(
				"web-0",
				"budget strict is made",
				`${lateAnswerMs + quickLoginMs} ms after budget strict was made`,
			),
		],
		limits: {},
		afterEviction: "stays",
		splitAnswers: true,
		configChanges: true,
		freshViews: true,
		probe: false,
		holdsBack: (step, world) =>
			step.kind === "message" && waitsForCount(world) && world.times("the answer takes its time") === 0,
	},
];
