// Scenarios in which a budget begins to cover a pod that was granted under another one.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, web } from "./scenario-parts.ts";
import { begins, ended, endsOnEvidence, fallsSilent, isCall, reserved, server, waitsFor } from "./staging.ts";
import type { World } from "./world.ts";

const both = { ...web, tier: "db" };

export const coveredSinceScenarios: readonly Scenario<World>[] = [
	unseen({ name: "reserved-unseen", isEnded: false, writtenHolds: false }),
	unseen({ name: "ended-unseen", isEnded: true, writtenHolds: false }),
	unseen({ name: "reserved-elsewhere", isEnded: false, writtenHolds: true }),
	unseen({ name: "ended-elsewhere", isEnded: true, writtenHolds: true }),
	{
		...unseen({ name: "listed-as-it-ends", isEnded: true, writtenHolds: true }),
		about:
			"An agent with dead watches lists pods, while the other one ends the reservation of a pod that another budget begins to cover",
		events: [
			fallsSilent(1),
			selectsAll((world) => waitsFor(world, "drain-1", "evict")),
			begins("drain-2", "c1/api-0", (world) => world.times("budget front selects all") > 0, { attempts: 1, agent: 1 }),
			endsOnEvidence(0, (world) => world.oracle.evictions > 0),
		],
		holdsBack: (step, world) =>
			(step.kind === "watch" && step.actor === "c1/agent-1") ||
			(isCall(step, "drain-1", "evict") &&
				(!waitsFor(world, "c1/agent-1", "list Lease") || waitsFor(world, "c1/agent-1", "list pods"))) ||
			(isCall(step, "c1/agent-1", "list Lease") && ended(world) === 0),
	},
];

/** Returns a scenario. With `isEnded`, agent-0 has ended the reservation on evidence before the budget covers the pod. */
function unseen({
	name,
	isEnded,
	writtenHolds,
}: Required<Pick<Scenario, "name" | "writtenHolds">> & { readonly isEnded: boolean }): Scenario<World> {
	return {
		name,
		about:
			"A budget begins to cover a pod that was granted under another one, and the agent that counts has not seen that Lease since",
		writtenHolds,
		clusters: [
			cluster("c1", 0, {
				workloads: [
					{ kind: "StatefulSet", name: "web", labels: both, replicas: 2 },
					{ kind: "StatefulSet", name: "api", labels: { app: "api", tier: "db" }, replicas: 2 },
				],
				budgets: [
					{ name: "web", selector: web, maxUnavailable: 1 },
					{ name: "front", selector: { app: "api" }, maxUnavailable: 1 },
				],
			}),
		],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1, agent: 0 })],
		events: [
			...(isEnded ? [endsOnEvidence(0, (world) => world.oracle.evictions > 0)] : []),
			selectsAll((world) => world.oracle.evictions > 0 && (!isEnded || !reserved(world, "web-0"))),
			begins("drain-2", "c1/api-0", (world) => world.times("budget front selects all") > 0, { attempts: 1, agent: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		configChanges: true,
		holdsBack: ({ kind, actor }) => kind === "watch" && actor.endsWith("agent-1"),
	};
}

function selectsAll(when: (world: World) => boolean): EventData<World> {
	return {
		name: "budget front selects all",
		when,
		run: (world) => {
			const spec = { selector: { matchLabels: { tier: "db" } }, maxUnavailable: 1 };
			server(world).putBudget({ name: { namespace: "shop", name: "front" }, spec });
			for (const each of world.cluster("c1").agents) each.seesEverything({ pods: false, leases: false });
		},
	};
}
