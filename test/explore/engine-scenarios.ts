// Scenarios of what can go wrong outside the rounds. Labels, budgets and members change at any step while the eviction engine remembers
// them, also for pods that no budget covered. Other scenarios are about silent watches and idle Leases.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet, web } from "./scenario-parts.ts";
import { namespace } from "./workload.ts";
import type { World } from "./world.ts";

const free = { app: "free" };
const four = [{ name: "web", selector: web, minAvailable: 3 }];

/** Returns a cluster with pods that no budget covers, and pods that a budget covers. */
function mixed(id: string, uncovered: number) {
	const moving = { kind: "StatefulSet", name: "free", labels: free, replicas: uncovered } as const;
	return cluster(id, 3, { workloads: [statefulSet(3), moving], budgets: four });
}

function relabels(id: string, name: string, labels: Readonly<Record<string, string>>): EventData<World> {
	const text = Object.values(labels).join();
	const podOf = (world: World) => {
		const found = world.cluster(id).server.getPod({ namespace, name });
		return found.kind === "present" && !found.pod.terminating ? found.pod : undefined;
	};
	return {
		name: `pod ${name} of ${id} gets the labels of ${text}`,
		when: (world) => {
			const pod = podOf(world);
			return pod !== undefined && JSON.stringify(pod.labels) !== JSON.stringify(labels);
		},
		run: (world) => {
			const pod = podOf(world);
			if (pod) world.cluster(id).server.changePod(pod, { labels });
		},
	};
}

function makes(id: string, selector: Readonly<Record<string, string>>, bound: object): EventData<World> {
	const [name = ""] = Object.values(selector);
	return {
		name: `budget ${name} is made in ${id}`,
		when: (world) =>
			!world
				.cluster(id)
				.server.listBudgets(namespace)
				.some((budget) => budget.name.name === name),
		run: (world) => {
			const spec = { selector: { matchLabels: selector }, ...bound };
			world.cluster(id).server.putBudget({ name: { namespace, name }, spec });
		},
	};
}

function deletes(id: string, name: string): EventData<World> {
	return {
		name: `budget ${name} is deleted in ${id}`,
		when: (world) =>
			world
				.cluster(id)
				.server.listBudgets(namespace)
				.some((budget) => budget.name.name === name),
		run: (world) => world.cluster(id).server.deleteBudget({ namespace, name }),
	};
}

/** Returns an event: the cluster's list becomes `members`. Members that are left out are forgotten by name. */
function declares(id: string, members: readonly string[]): EventData<World> {
	const declared = (world: World) => world.cluster(id).server.fleet.members;
	return {
		name: `${id} declares ${members.join(", ")}`,
		times: 2,
		when: (world) => declared(world).length !== members.length,
		run: (world) => {
			const left = declared(world).filter((member) => !members.includes(member.id));
			const forgotten = left.map((member) => member.id);
			world.cluster(id).declares(members, forgotten);
		},
	};
}

const pauses = { drainJumps: 3, refused: 2, gaveUp: 1, lost: 1 };

export const engineScenarios: readonly Scenario<World>[] = [
	{
		name: "labels-change",
		about: "Pods that no budget covers get the labels of a budget without room, before and while they are evicted",
		clusters: [mixed("c1", 2)],
		drains: [drain("drain-1", ["c1/free-0", "c1/free-1"], { attempts: 4 }), drain("drain-2", ["c1/web-0"])],
		events: [
			relabels("c1", "free-0", web),
			relabels("c1", "free-1", web),
			relabels("c1", "web-0", free),
			relabels("c1", "free-0", free),
		],
		limits: { ...pauses, touches: 2 },
		configChanges: true,
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "relabelled-late",
		about: "A pod is listed as one that nobody covers, and gets the labels of a budget before its turn comes",
		clusters: [mixed("c1", 1)],
		drains: [drain("drain-1", ["c1/free-0"], { attempts: 4 })],
		events: [relabels("c1", "free-0", web)],
		limits: { drainJumps: 1, refused: 1 },
		configChanges: true,
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "budgets-come-and-go",
		about: "Budgets over pods that nobody covered are made and deleted at any step, in one member and in another",
		clusters: [mixed("c1", 2), mixed("c2", 1)],
		drains: [
			drain("drain-1", ["c1/free-0", "c1/free-1"], { attempts: 4 }),
			drain("drain-2", ["c2/free-0", "c2/web-0"], { attempts: 4 }),
		],
		events: [
			makes("c1", free, { maxUnavailable: 1 }),
			makes("c2", free, { maxUnavailable: 0 }),
			deletes("c1", "free"),
			deletes("c2", "free"),
		],
		limits: { ...pauses, stops: 1 },
		configChanges: true,
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "budget-made-late",
		about: "An eviction that was refused is tried again, when a budget covers its pod by now",
		clusters: [mixed("c1", 2)],
		drains: [drain("drain-1", ["c1/free-0", "c1/free-1"], { attempts: 4 })],
		events: [makes("c1", free, { maxUnavailable: 0 })],
		limits: { refused: 2, drainJumps: 1 },
		configChanges: true,
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "first-budget",
		about: "The first budget of a namespace is made while its pods are evicted by their uids alone",
		clusters: [cluster("c1", 3, { budgets: [] }), cluster("c2", 1, { budgets: [] })],
		drains: [
			drain("drain-1", ["c1/web-0", "c1/web-1"], { attempts: 4 }),
			drain("drain-2", ["c2/web-0"], { attempts: 4 }),
		],
		events: [makes("c1", web, { maxUnavailable: 1 }), makes("c2", web, { maxUnavailable: 1 })],
		limits: pauses,
		configChanges: true,
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "members-change",
		about: "A third cluster becomes a member, and is forgotten, while pods of two members wait and are evicted",
		clusters: [
			cluster("c1", 4, { agents: 1, fleet: ["c1", "c2"] }),
			cluster("c2", 4, { agents: 1, fleet: ["c1", "c2"] }),
			cluster("c3", 1, {
				agents: 1,
				fleet: ["c1", "c2", "c3"],
				budgets: [{ name: "web", selector: web, maxUnavailable: 0 }],
			}),
		],
		drains: [
			drain("drain-1", ["c1/web-0"], { attempts: 4 }),
			drain("drain-2", ["c2/web-0"], { attempts: 4 }),
			drain("drain-3", ["c2/web-1"], { attempts: 1 }),
		],
		events: ["c1", "c2"].flatMap((id) => [declares(id, ["c1", "c2", "c3"]), declares(id, ["c1", "c2"])]),
		limits: { drainJumps: 2, agentJumps: 1 },
		configChanges: true,
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "member-with-the-budget",
		about: "Nobody covers a pod but a budget of a cluster that becomes a member",
		clusters: [
			{ ...mixed("c1", 2), agents: 1, fleet: ["c1"] },
			cluster("c2", 1, {
				agents: 1,
				fleet: ["c1", "c2"],
				workloads: [],
				budgets: [{ name: "free", selector: free, maxUnavailable: 0 }],
			}),
		],
		drains: [drain("drain-1", ["c1/free-0", "c1/free-1"], { attempts: 4 })],
		events: [declares("c1", ["c1", "c2"])],
		limits: { refused: 2, drainJumps: 1 },
		configChanges: true,
		afterEviction: "stays",
		probe: false,
	},
	{
		name: "dead-watch",
		about: "A pod fails while the watches are silent: whoever counts then has to list",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 3 }), drain("drain-2", ["c1/web-1"], { attempts: 3 })],
		limits: { silences: 1, failures: 1, drainJumps: 1 },
		afterEviction: "stays",
	},
	{
		name: "cleaned-up",
		about: "A Lease is idle in a cluster that has not the budget, and another member has",
		clusters: [cluster("c1", 1, { agents: 1, budgets: [] }), cluster("c2", 2, { agents: 1 })],
		drains: [
			drain("drain-1", ["c1/web-0"], { attempts: 2 }),
			drain("drain-2", ["c2/web-0"], { attempts: 3 }),
			drain("drain-3", ["c2/web-1"], { attempts: 3 }),
		],
		limits: { leaseDeletions: 2, evidence: 2, drainJumps: 1 },
		afterEviction: "ends",
		freshViews: true,
	},
];
