// Scenarios of controllers whose kind or owner changes or whose scale is unknown, and of API servers whose etcd comes back from a backup.
import { leaseText, reservationsIn } from "./lease-text.ts";
import type { Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet, web } from "./scenario-parts.ts";
import { acquisitionsBy, agent, begins, fails, isCall, nobodyIsEvicted, reserved, server } from "./staging.ts";
import { databaseGroup } from "./workload.ts";
import type { World } from "./world.ts";

function databases(replicas: number) {
	return { kind: "Database", name: "db", labels: web, replicas } as const;
}

/** Changes which versions of the kind are served from now on, and whether it has a scale. */
function serves(world: World, change: { readonly versions?: readonly string[]; readonly hasScale?: boolean }): void {
	const { kinds } = server(world);
	const served = kinds.get(databaseGroup);
	if (served) kinds.set(databaseGroup, { ...served, ...change });
}

function versionsOf(world: World): number {
	return server(world).kinds.get(databaseGroup)?.versions.length ?? 0;
}

function isRestored(world: World): boolean {
	return world.times("etcd is restored") > 0;
}

/** Whether a restore would lose no reservation, eviction or deletion. Those since the backup are not guaranteed (docs/guarantees.md). */
function nothingToLose({ oracle, clusters }: World): boolean {
	return (
		oracle.evictions === 0 &&
		clusters.every(
			({ server: each }) => reservationsIn(each).length === 0 && each.pods().every(({ terminating }) => !terminating),
		)
	);
}

/** Returns a scenario: rounds run over two clusters while etcd comes back from a backup in one or both of them. */
function restoredMeanwhile(
	scenario: Pick<Scenario<World>, "name" | "about">,
	restore: { readonly only?: string; readonly bumped?: boolean },
	limits: Scenario<World>["limits"] = { pauses: 2, agentJumps: 2, failures: 1, silences: 1, lost: 1, restarts: 1 },
): Scenario<World> {
	return {
		...scenario,
		isRestored: true,
		clusters: [cluster("c1", 3), cluster("c2", 2)],
		drains: [drain("drain-1", ["c1/web-0"]), drain("drain-2", ["c1/web-1"]), drain("drain-3", ["c2/web-0"])],
		events: [{ name: "etcd is restored", when: nothingToLose, run: (world) => world.restore(restore) }],
		limits,
		afterEviction: "stays",
	};
}

/**
 * Returns a scenario: a pod becomes ready after the backup, and then etcd is restored. If `bumped`, the restore itself raises the versions
 * above those that the view has seen. Otherwise, only later writes do.
 */
function outgrown(name: string, about: string, bumped: boolean): Scenario<World> {
	const isReady = "web-2 becomes ready";
	return {
		name,
		about,
		isRestored: true,
		clusters: [cluster("c1", 0, { agents: 1, workloads: [statefulSet(3, { unready: [2] })] })],
		drains: [],
		events: [
			{
				name: isReady,
				run: (world) => {
					const c1 = world.cluster("c1");
					const pod = c1.server.changePod(world.pod("c1", "web-2"), { ready: true });
					const slot = c1.slotOf(pod);
					if (slot) slot.down = undefined;
				},
			},
			{
				name: "etcd is restored",
				when: (world) => world.times(isReady) > 0 && agent(world, 0).podRevision >= server(world).revision,
				run: (world) => {
					// An API server that stops ends its watches normally: no error says that another connection follows.
					agent(world, 0).streams?.endsPodWatch();
					world.restore({ bumped });
					// Stands for the writes of other clients.
					server(world).revision += 5_000;
				},
			},
			begins("drain-1", "c1/web-0", (world) => isRestored(world) && agent(world, 0).isWatching, { attempts: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		probe: false,
		isStreamed: true,
		holdsBack: () => false,
	};
}

/** Longer than the time for which an agent remembers a ReplicaSet's owner. */
const ownerTimeMs = 6_000;

/**
 * Returns a scenario: a pod of a Deployment is evicted and not yet replaced. Then its ReplicaSet leaves the Deployment, and a drain wants
 * the next pod.
 */
function disowned(name: string, about: string, change: (world: World) => void): Scenario<World> {
	const what = "the ReplicaSet leaves its Deployment";
	return {
		name,
		about,
		clusters: [
			cluster("c1", 0, {
				agents: 1,
				workloads: [{ kind: "Deployment", name: "web", labels: web, replicas: 3, template: {} }],
			}),
		],
		drains: [drain("drain-1", ["c1/web-0-1"], { attempts: 1 })],
		events: [
			{
				name: what,
				when: (world) => !nobodyIsEvicted(world) && server(world).pods().length < 3,
				run: change,
			},
			begins("drain-2", "c1/web-1-2", (world) => world.times(what) > 0, { attempts: 2 }),
			{
				// Deleted at the end only: a round would wait for the pods that the Deployment makes in its new ReplicaSet.
				name: "the Deployment is deleted",
				when: ({ drains }) => drains.length === 2 && drains.every(({ finished }) => finished),
				run: (world) => world.cluster("c1").workloads[0]?.deleteDeployment(),
			},
		],
		limits: {},
		afterEviction: "ends",
		freshViews: true,
		holdsBack: () => false,
	};
}

export const kindScenarios: readonly Scenario<World>[] = [
	{
		name: "kinds-change",
		about: "A kind with a scale is served in other versions, and is uninstalled, while pods of it are evicted",
		clusters: [cluster("c1", 0, { agents: 1, workloads: [statefulSet(2), databases(2)] })],
		drains: [drain("drain-1", ["c1/db-0"], { attempts: 2 }), drain("drain-2", ["c1/web-0"], { attempts: 2 })],
		events: [
			{
				name: "v1beta1 is not served any more",
				times: 2,
				when: (world) => versionsOf(world) > 1,
				run: (world) => serves(world, { versions: ["v1"] }),
			},
			{
				name: "v1beta1 is served again",
				when: (world) => versionsOf(world) === 1,
				run: (world) => serves(world, { versions: ["v1", "v1beta1"] }),
			},
			{
				name: "the kind is uninstalled, and its pods are left",
				run: (world) => {
					server(world).kinds.delete(databaseGroup);
					world.cluster("c1").workloads[1]?.orphan();
				},
			},
		],
		limits: { pauses: 4, agentJumps: 2, lost: 1, restarts: 1, evidence: 2, drainJumps: 1 },
		afterEviction: "ends",
		configChanges: true,
	},
	{
		name: "version-dropped",
		about:
			"A pod is gone and not back, and its controller's version is not served any more when another pod is asked for",
		clusters: [cluster("c1", 0, { agents: 1, workloads: [statefulSet(2), databases(2)] })],
		drains: [drain("drain-1", ["c1/db-0"], { attempts: 1 })],
		events: [
			{
				name: "v1beta1 is not served any more",
				when: (world) => !nobodyIsEvicted(world) && server(world).pods().length < 4,
				run: (world) => serves(world, { versions: ["v1"] }),
			},
			begins("drain-2", "c1/web-0", (world) => versionsOf(world) === 1, { attempts: 4 }),
		],
		limits: {},
		afterEviction: "ends",
		freshViews: true,
		configChanges: true,
		// Each event waits for the one before it, and all of them have to happen.
		holdsBack: () => false,
	},
	{
		name: "scale-added",
		about: "Nobody could say how many pods of a kind there should be, until the kind gets a scale",
		clusters: [cluster("c1", 0, { agents: 1, workloads: [statefulSet(2), databases(1)] })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 2 })],
		prepare: (world) => serves(world, { hasScale: false }),
		events: [
			{
				name: "the kind gets a scale",
				when: (world) => acquisitionsBy(world, "drain-1") > 0 || world.drains.every(({ finished }) => finished),
				run: (world) => serves(world, { hasScale: true }),
			},
		],
		limits: {},
		afterEviction: "ends",
		freshViews: true,
		configChanges: true,
		holdsBack: () => false,
	},
	{
		name: "scale-unread",
		about:
			"A pod of c1 is down, and whoever counts for a pod of c2 gets no answer from c1 how many pods its workload wants",
		clusters: [cluster("c1", 2, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 3 })],
		events: [begins("drain-2", "c2/web-0", (world) => !nobodyIsEvicted(world), { attempts: 2 })],
		limits: { lost: 3 },
		afterEviction: "stays",
		freshViews: true,
		configChanges: true,
		mayFail: (_, what) => isScaleOfC1(what),
		holdsBack: (step, world) => {
			if (!isScaleOfC1(step.what)) return step.kind === "fault" && nobodyIsEvicted(world);
			return step.kind === "fault" ? nobodyIsEvicted(world) : !nobodyIsEvicted(world) && world.times("lost") < 3;
		},
	},
	disowned("disowned", "The Deployment wants fewer pods than its former ReplicaSet has", (world) => {
		world.cluster("c1").workloads[0]?.disown(1);
	}),
	disowned(
		"disowned-before",
		"The Deployment wants as many pods as its former ReplicaSet has, which wants more",
		(world) => {
			world.cluster("c1").workloads[0]?.disown(2);
			agent(world, 0).clock.jump(ownerTimeMs);
			agent(world, 0).signOfLife();
		},
	),
	{
		name: "restored-unseen",
		about: "etcd comes back from a backup that is older than what a view has seen, and then a pod fails",
		isRestored: true,
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [],
		events: [
			{ name: "etcd is restored", run: (world) => world.restore() },
			fails("web-2", isRestored),
			begins("drain-1", "c1/web-0", (world) => world.times("web-2 fails") > 0 && agent(world, 0).isWatching),
		],
		limits: {},
		afterEviction: "stays",
		holdsBack: () => false,
	},
	restoredMeanwhile(
		{
			name: "restored-while-draining",
			about: "etcd comes back from a backup while rounds run, and agents find out by a write, a list or their watches",
		},
		{},
	),
	restoredMeanwhile(
		{
			name: "one-member-restored",
			about: "etcd of one member comes back from a backup while rounds run over both",
		},
		{ only: "c2" },
		{ pauses: 2, agentJumps: 2, lost: 1 },
	),
	restoredMeanwhile(
		{
			name: "restored-with-higher-versions",
			about: "etcd comes back from a backup while rounds run, with versions above all that agents have seen",
		},
		{ bumped: true },
	),
	{
		name: "counted-before-the-restore",
		about:
			"A round has counted, another one commits after it, and etcd of one member comes back as the first one counted it",
		isRestored: true,
		writtenHolds: false,
		clusters: [cluster("c1", 3, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [drain("drain-1", ["c2/web-0"], { attempts: 1 })],
		events: [
			begins("drain-2", "c1/web-1", (world) => committedBy(world, "c1") > 0, { attempts: 1 }),
			{
				name: "etcd is restored",
				when: (world) => committedBy(world, "c2") > 0 && reserved(world, "web-1") !== undefined,
				run: (world) => world.restore({ only: "c2" }),
			},
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: (step, world) =>
			isCall(step, "drain-1", "commit") && step.what.includes("granting web-0") && !isRestored(world),
	},
	outgrown("restored-and-outgrown", "etcd comes back from a backup, and soon has versions past those of a view", false),
	outgrown(
		"restored-past-the-view",
		"etcd comes back from a backup with versions above all that a view has seen",
		true,
	),
];

/** Returns how many events of the cluster's Leases show a committed Lease. */
function committedBy(world: World, clusterId: string): number {
	const { leaseEvents } = server(world, clusterId);
	return leaseEvents.filter(({ object }) => leaseText(object).startsWith("committed")).length;
}

function isScaleOfC1(what: string): boolean {
	return what.includes("get scales") && what.includes("in c1");
}
