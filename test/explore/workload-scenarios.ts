// Scenarios of workloads that have, or may come to have, no pod in a cluster. The pods that they want still count as expected there, whether
// or not one was ever granted.
import { stateAnnotation } from "../../disruption/lease/lease-text.ts";
import type { ControllerReference } from "../../disruption/budget/pod.ts";
import type { ClusterData, Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet, web } from "./scenario-parts.ts";
import {
	acquisitionsBy,
	agent,
	agentSleeps,
	begins,
	ended,
	endsOnEvidence,
	fallsSilent,
	isCall,
	isDone,
	isHeldBy,
	nobodyIsEvicted,
	waitsFor,
} from "./staging.ts";
import { namespace, Workload } from "./workload.ts";
import type { World } from "./world.ts";

/** Returns three clusters with one replica each. A cluster whose pod is gone has no pod left that shows its workload. */
function oneReplicaEach(more: Partial<ClusterData> = {}): readonly ClusterData[] {
	return ["c1", "c2", "c3"].map((id) => cluster(id, 1, { agents: 1, ...more }));
}

function podsOf(world: World, id: string): number {
	return world.cluster(id).server.pods().length;
}

/** Returns an event: a pod fails without regard to budgets, and its object disappears. */
function vanishes(id: string, name: string, when: (world: World) => boolean) {
	return {
		name: `pod ${name} of ${id} vanishes`,
		when: (world: World) => podsOf(world, id) > 0 && when(world),
		run: (world: World) => {
			const { server, workloads } = world.cluster(id);
			const pod = world.pod(id, name);
			server.removePod(pod);
			for (const { slots } of workloads) {
				for (const slot of slots) {
					if (slot.pod?.uid !== pod.uid) continue;
					slot.pod = undefined;
					slot.down = { cause: "involuntary", revision: server.revision };
				}
			}
		},
	};
}

/**
 * Returns a scenario: there is a new workload that no count has seen and that has no pod yet. Then a drain wants to evict a pod of another
 * workload.
 */
function madeUnseen(name: string, about: string, before: (world: World) => void): Scenario<World> {
	const made = "a StatefulSet is made";
	return {
		name,
		about,
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [],
		events: [
			{
				name: made,
				run: (world) => {
					before(world);
					const c1 = world.cluster("c1");
					c1.workloads.push(new Workload(c1.server, { ...statefulSet(2), name: "late", isEmpty: true }));
				},
			},
			begins("drain-1", "c1/web-0", (world) => world.times(made) > 0),
		],
		limits: {},
		afterEviction: "ends",
		configChanges: true,
		probe: false,
		// The watches show nothing before the drain is over.
		holdsBack: ({ kind }, { drains }) => kind === "watch" && !drains.some(({ finished }) => finished),
	};
}

/** Makes the Leases of c1 remember a controller, as after earlier rounds. */
function remembers(world: World, { apiVersion, kind, name, uid }: ControllerReference): void {
	const { server } = world.cluster("c1");
	for (const lease of server.leases.values()) {
		const state: unknown = JSON.parse(lease.annotations[stateAnnotation] ?? "");
		const remembering = JSON.stringify({ ...(state as object), controllers: [[apiVersion, kind, name, uid]] });
		server.updateLease({ ...lease, annotations: { ...lease.annotations, [stateAnnotation]: remembering } });
	}
}

function relabels(world: World, name: string, labels: Readonly<Record<string, string>>): void {
	world.cluster("c1").server.changePod(world.pod("c1", name), { labels });
}

/** Whether the database's pod was evicted and is not yet replaced. */
function isDatabaseGone(world: World): boolean {
	return !nobodyIsEvicted(world) && world.cluster("c1").server.getPod({ namespace, name: "db-0" }).kind === "gone";
}

/** Longer than the 5 s for which an agent relies on its latest comparison of a watch with a list. */
const comparisonTimeMs = 6_000;

export const workloadScenarios: readonly Scenario<World>[] = [
	{
		name: "gone-and-not-back",
		about: "One replica a cluster: somebody deletes one past the budget, and no pod of it is left in its cluster",
		clusters: oneReplicaEach(),
		drains: [drain("drain-1", ["c2/web-0"])],
		limits: { failures: 1 },
		afterEviction: "ends",
		freshViews: true,
		probe: false,
	},
	{
		name: "gone-under-another-budget",
		about: "One replica a cluster: c1's is evicted under another budget and is not back when a stricter one is made",
		clusters: oneReplicaEach({ budgets: [{ name: "other", selector: web, maxUnavailable: 3 }] }),
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 2 })],
		events: [
			{
				name: "budget web is made in all members",
				when: (world) => world.oracle.evictions > 0 && podsOf(world, "c1") === 0,
				run: (world) => {
					for (const { server, agents } of world.clusters) {
						server.putBudget({
							name: { namespace, name: "web" },
							spec: { selector: { matchLabels: web }, maxUnavailable: 1 },
						});
						for (const agent of agents) agent.comparesBudgets();
					}
				},
			},
			begins("drain-2", "c2/web-0", (world) => world.times("budget web is made in all members") > 0),
		],
		limits: {},
		afterEviction: "ends",
		freshViews: true,
		configChanges: true,
		probe: false,
		holdsBack: () => false,
	},
	{
		name: "gone-custom-resource",
		about: "One custom resource of one replica a cluster: c1's pod vanishes, which was counted once and never granted",
		clusters: ["c1", "c2", "c3"].map((id) =>
			cluster(id, 0, { agents: 1, workloads: [{ kind: "Database", name: "db", labels: web, replicas: 1 }] }),
		),
		drains: [drain("drain-1", ["c3/db-0"], { attempts: 1 })],
		events: [
			vanishes(
				"c1",
				"db-0",
				// The round of drain-1 was decided, so every member has counted.
				(world) =>
					!nobodyIsEvicted(world) &&
					world.drains.every(({ finished }) => finished) &&
					world.cluster("c3").workloads[0]?.slots[0]?.down === undefined,
			),
			begins("drain-2", "c2/db-0", (world) => world.times("pod db-0 of c1 vanishes") > 0),
		],
		limits: {},
		afterEviction: "replaced",
		freshViews: true,
		probe: false,
		holdsBack: ({ kind, actor }) => kind === "kubelet" && actor === "c1",
	},
	{
		name: "gone-and-relabelled",
		about:
			"One replica a cluster: c1's is evicted and not back when its template gets labels that the budget does not select",
		clusters: oneReplicaEach(),
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			endsOnEvidence(0, (world) => !nobodyIsEvicted(world) && podsOf(world, "c1") === 0),
			{
				name: "the template of c1 is relabelled",
				when: (world) => !nobodyIsEvicted(world) && podsOf(world, "c1") === 0,
				run: (world) => {
					const { server, workloads } = world.cluster("c1");
					const controller = workloads[0]?.controller;
					if (!controller) throw new Error("a StatefulSet has a controller");
					server.putController({ ...controller, namespace, replicas: 1, template: { app: "other" } });
				},
			},
			begins("drain-2", "c2/web-0", (world) => world.times("the template of c1 is relabelled") > 0),
		],
		limits: {},
		afterEviction: "ends",
		freshViews: true,
		configChanges: true,
		probe: false,
		holdsBack: () => false,
	},
	{
		name: "relabelled-behind-a-dead-watch",
		about:
			"A pod is relabelled away from its budget and back, behind the dead watch of one agent, and is evicted through the other one",
		// A webhook gives the pods of side the labels of web.
		clusters: [
			{
				...cluster("c1", 2),
				workloads: [
					...cluster("c1", 2).workloads,
					{ kind: "StatefulSet", name: "side", labels: web, template: { app: "side" }, replicas: 1 },
				],
			},
		],
		drains: [],
		prepare: (world) => {
			const [, side] = world.cluster("c1").workloads;
			if (side?.controller) remembers(world, side.controller);
			relabels(world, "side-0", { app: "side" });
			agent(world, 1).seesEverything();
		},
		events: [
			fallsSilent(1),
			{
				name: "side-0 is relabelled back",
				when: (world) => world.times("the watches of agent-1 fall silent") > 0,
				run: (world) => relabels(world, "side-0", web),
			},
			begins("drain-1", "c1/side-0", (world) => world.times("side-0 is relabelled back") > 0, { attempts: 1 }),
			endsOnEvidence(0, (world) => isDone(world, "drain-1") && podsOf(world, "c1") === 2),
			begins("drain-2", "c1/web-0", (world) => ended(world) > 0, { agent: 1, attempts: 1 }),
		],
		limits: {},
		afterEviction: "ends",
		configChanges: true,
		probe: false,
		holdsBack: (step, world) =>
			(step.kind === "watch" && step.actor === "c1/agent-1") ||
			(step.kind === "kubelet" && !isDone(world, "drain-2") && podsOf(world, "c1") < 3),
	},
	{
		name: "gone-for-a-while",
		about:
			"A round finds that a custom resource is gone and loses its Lease; the next one is granted the pod of one that is made again",
		clusters: [cluster("c1", 3)],
		drains: [drain("drain-1", ["c1/web-0"], { agent: 0, attempts: 1 })],
		prepare: (world) =>
			remembers(world, { apiVersion: "example.com/v1", kind: "Database", name: "db", uid: "earlier" }),
		events: [
			{
				name: "Database db is made again",
				when: (world) => isHeldBy(world, "drain-1") && waitsFor(world, "c1/agent-0", "update Lease"),
				run: (world) => {
					const c1 = world.cluster("c1");
					c1.workloads.push(new Workload(c1.server, { kind: "Database", name: "db", labels: web, replicas: 1 }));
				},
			},
			agentSleeps(1, (world) => world.times("Database db is made again") > 0),
			begins("drain-2", "c1/db-0", (world) => world.times("agent-1 of c1 sleeps") > 0, { agent: 1, attempts: 1 }),
			begins(
				"drain-3",
				"c1/web-1",
				(world) => isDatabaseGone(world) && world.drains.every(({ finished }) => finished),
				{
					agent: 1,
					attempts: 1,
				},
			),
		],
		limits: {},
		afterEviction: "ends",
		freshViews: true,
		configChanges: true,
		probe: false,
		holdsBack: (step, world) =>
			isCall(step, "c1/agent-0", "update Lease") && acquisitionsBy(world, "drain-1") > 0 && !isDatabaseGone(world),
	},
	{
		name: "owned-and-not",
		about: "Pods of a StatefulSet that the Lease remembers, beside some that nobody controls",
		clusters: [
			cluster("c1", 0, {
				agents: 1,
				workloads: [statefulSet(2), { kind: "Bare", name: "own", labels: web, replicas: 2 }],
			}),
		],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c1/web-1"])],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
	},
	madeUnseen("made-behind-a-dead-watch", "A workload is made while an agent's watches are dead", (world) => {
		agent(world, 0).isWatching = false;
	}),
	madeUnseen(
		"made-where-lists-are-forbidden",
		"A workload is made while an agent's watches are dead, and it has no right to list workloads",
		(world) => {
			agent(world, 0).isWatching = false;
			world.cluster("c1").server.workloads.forbidsLists = true;
		},
	),
	madeUnseen(
		"made-behind-a-stuck-watch",
		"A workload is made that a watch does not show, alive though it is",
		(world) => {
			agent(world, 0).clock.jump(comparisonTimeMs);
			agent(world, 0).signOfLife();
		},
	),
];
