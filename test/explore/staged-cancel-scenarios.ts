// Scenarios that each force one interleaving: a reservation is cancelled while its eviction is on its way or is not yet seen.
import type { Scenario } from "./scenario.ts";
import { cluster, drain } from "./scenario-parts.ts";
import { begins, cancels, ended, isCall, isCancelled, nobodyIsEvicted, server, waitsFor } from "./staging.ts";
import type { World } from "./world.ts";

export const stagedCancelScenarios: readonly Scenario<World>[] = [
	lateEviction("cancelled-and-late", "An eviction arrives after its reservation was cancelled and its room given away"),
	{
		...lateEviction("cancelled-again-and-late", "The same, of a pod that was touched before"),
		prepare: (world) => void server(world).touchPod(world.pod("c1", "web-0"), "again"),
	},
	unseen(
		"cancelled-as-it-ends",
		"A reservation is cancelled whose pod ends, and another agent has not seen it",
		"stays",
	),
	unseen(
		"cancelled-when-gone",
		"A reservation is cancelled whose pod is gone, and another agent has not seen it",
		"ends",
	),
	{
		name: "refused-unsure",
		about: "An eviction is refused that was sent before, and the earlier request is still on its way",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [begins("drain-2", "c1/web-1", isCancelled)],
		limits: { gaveUp: 1, refused: 1 },
		afterEviction: "stays",
		freshViews: true,
		onlyFails: "evict",
		holdsBack: (step, world) => {
			if (step.kind === "late") return nobodyIsEvicted(world);
			return isCall(step, "drain-1", "evict") && (world.times("gaveUp") === 0 || world.times("refused") === 0);
		},
	},
];

/** Returns a scenario in which the agent that the evictor asks has not yet seen the cancel. */
function lateEviction(name: string, about: string): Scenario<World> {
	return {
		name,
		about,
		clusters: [cluster("c1", 3)],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1, agent: 1 })],
		events: [
			cancels(0, "web-0", (world) => waitsFor(world, "drain-1", "evict")),
			begins("drain-2", "c1/web-1", isCancelled),
		],
		limits: {},
		afterEviction: "stays",
		holdsBack: (step, world) =>
			(step.kind === "watch" && step.actor === "c1/agent-1") ||
			(isCall(step, "drain-1", "evict") && nobodyIsEvicted(world)),
	};
}

function unseen(name: string, about: string, afterEviction: "stays" | "ends"): Scenario<World> {
	const isThere = (world: World): boolean => server(world).pods().length === 3;
	return {
		name,
		about,
		clusters: [cluster("c1", 3)],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1, agent: 0 })],
		events: [
			cancels(0, "web-0", (world) => !nobodyIsEvicted(world) && isThere(world) === (afterEviction === "stays")),
			begins("drain-2", "c1/web-1", (world) => ended(world) > 0, { agent: 1, attempts: 1 }),
		],
		limits: {},
		afterEviction,
		probe: false,
		// agent-0 must not see the eviction either, or it would end the reservation on evidence.
		holdsBack: ({ kind, actor }, world) =>
			kind === "watch" && (actor === "c1/agent-1" || !world.drains.some(({ name: each }) => each === "drain-2")),
	};
}
