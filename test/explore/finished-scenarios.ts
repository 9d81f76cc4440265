// Scenarios of pods that finish, end or have not started. They need no grant. A finished or terminating pod never becomes healthy again.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet, web } from "./scenario-parts.ts";
import type { Step } from "./scheduler.ts";
import { becomesReady, begins, isCall, isDeleted } from "./staging.ts";
import type { World } from "./world.ts";

const job = { kind: "Job", name: "job", labels: web } as const;

const loginMs = 1_500;

/** Returns an event: a pod of c1 finishes. With `ready` it still reports Ready. */
function finishes(name: string, ready: boolean, when: (world: World) => boolean = () => true): EventData<World> {
	return {
		name: `${name} finishes`,
		when,
		run: (world) => {
			const slot = world.cluster("c1").slotOf(world.pod("c1", name));
			slot?.workload.finish(slot, { ready });
		},
	};
}

/** Returns an event that reports a bug if all drains have ended without an eviction, although the pod needs no grant. */
function isLeft(name: string): EventData<World> {
	return {
		name: `${name} is left`,
		when: ({ drains }) => drains.length > 0 && drains.every(({ finished }) => finished),
		run: (world) => {
			if (world.drains.every(({ evicted }) => evicted === 0))
				world.bug("drain-1", new Error(`${name} was not evicted, though it costs nothing`));
		},
	};
}

/** Whether the step is a timer of the agent. An agent that runs out of time may let a pod wait. */
function isTimerOfAgent({ kind, actor }: Step): boolean {
	return kind === "timer" && actor === "c1/agent-0";
}

function isFinished(name: string): (world: World) => boolean {
	return (world) => world.times(`${name} finishes`) > 0;
}

/**
 * Returns a scenario in which web-0 needs no grant. While the plugin logs in to evict it, etcd comes back from a backup in which web-0
 * needs one.
 */
function freeBeforeRestore(name: string, event: EventData<World>): Scenario<World> {
	return {
		name,
		about: `${event.name}, and etcd comes back from a backup of before, while the plugin logs in to evict it`,
		isRestored: true,
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [],
		events: [
			event,
			begins("drain-1", "c1/web-0", (world) => world.times(event.name) > 0, {
				attempts: 1,
				firstSendAfterMs: loginMs,
			}),
			{ name: "etcd is restored", when: logsIn, run: (world) => world.restore() },
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: (step, world) =>
			step.kind === "timer" && step.actor === "drain-1" && logsIn(world) && world.times("etcd is restored") === 0,
	};
}

export const finishedScenarios: readonly Scenario<World>[] = [
	{
		name: "finished",
		about: "Pods of all kinds of controllers finish or fail for good, before, while and after they are granted",
		clusters: [
			cluster("c1", 0, {
				workloads: [
					{ kind: "Deployment", name: "web", labels: web, replicas: 2 },
					{ kind: "Bare", name: "own", labels: web, replicas: 1 },
					{ ...job, replicas: 2 },
				],
				budgets: [{ name: "web", selector: web, minAvailable: 3 }],
			}),
		],
		drains: [drain("drain-1", ["c1/web-0-1", "c1/own-0"]), drain("drain-2", ["c1/web-1-2", "c1/job-0-1"])],
		limits: { finishes: 2, evidence: 2, cancels: 1, agentJumps: 1, gaveUp: 1, touches: 1 },
		hasThinRuns: true,
	},
	{
		name: "finished-job",
		about: "A Job's pods keep the number of expected pods unknown until they finish",
		clusters: [cluster("c1", 0, { workloads: [statefulSet(3), { ...job, replicas: 1 }] })],
		drains: [drain("drain-1", ["c1/web-0", "c1/job-0-1"], { attempts: 5 }), drain("drain-2", ["c1/web-1"])],
		limits: { finishes: 2, evidence: 2, agentJumps: 1, gaveUp: 1 },
		configChanges: true,
		probe: false,
	},
	{
		name: "failed-and-ready",
		about:
			"A pod is marked as failed while it still reports Ready, and all views have seen it when another one is asked for",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [],
		events: [finishes("web-2", true), begins("drain-1", "c1/web-0", isFinished("web-2"))],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: () => false,
	},
	{
		name: "finished-without-room",
		about: "A pod finishes under a budget that another one has used up, and is asked for",
		clusters: [cluster("c1", 3, { agents: 1, workloads: [statefulSet(3, { unready: [1, 2] })] })],
		drains: [],
		events: [finishes("web-2", false), begins("drain-1", "c1/web-2", isFinished("web-2")), isLeft("web-2")],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: isTimerOfAgent,
	},
	{
		name: "terminating-without-room",
		about: "A pod that was deleted under a budget that another one has used up is asked for",
		clusters: [cluster("c1", 3, { agents: 1, workloads: [statefulSet(3, { unready: [1] })] })],
		drains: [],
		events: [
			isDeleted("web-2"),
			begins("drain-1", "c1/web-2", (world) => world.times("web-2 is deleted") > 0),
			isLeft("web-2"),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: isTimerOfAgent,
	},
	{
		name: "not-started",
		about: "Pods start while they are evicted because they had not started, beside a drain of one that had",
		clusters: [
			cluster("c1", 4, { workloads: [statefulSet(4, { unready: [2, 3], pending: [2, 3] })] }),
			cluster("c2", 1),
		],
		drains: [
			drain("drain-1", ["c1/web-2", "c1/web-3"], { serverErrors: true }),
			drain("drain-2", ["c1/web-0"]),
			drain("drain-3", ["c2/web-0"]),
		],
		limits: { gaveUp: 1, answerLost: 1, touches: 2, drainJumps: 1, cancels: 1, evidence: 1 },
	},
	{
		name: "not-started-without-room",
		about: "A pod that has not started is asked for under a budget that it and another one have used up",
		clusters: [cluster("c1", 3, { agents: 1, workloads: [statefulSet(3, { unready: [1, 2], pending: [1, 2] })] })],
		drains: [],
		events: [begins("drain-1", "c1/web-2", () => true), isLeft("web-2")],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: ({ kind, what }) => kind === "timer" || what.endsWith("becomes ready"),
	},
	{
		name: "started-since-it-was-listed",
		about:
			"A pod that had not started when it was listed starts before it is read again, or before its eviction arrives",
		clusters: [cluster("c1", 3, { agents: 1, workloads: [statefulSet(3, { unready: [1, 2], pending: [2] })] })],
		drains: [],
		events: [
			begins("drain-1", "c1/web-2", () => true, { attempts: 2 }),
			becomesReady("web-2", (world) => world.drains.length > 0),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: (step, world) =>
			(isCall(step, "drain-1", "evict") || step.kind === "timer") && world.times("web-2 becomes ready") === 0,
	},
	freeBeforeRestore("finished-before-a-restore", finishes("web-0", false)),
	freeBeforeRestore("terminating-before-a-restore", isDeleted("web-0")),
];

/** Whether the drain waits for its login, which it does once it knows that its pod needs no grant. */
function logsIn(world: World): boolean {
	const timer = world.drains[0]?.clock.next();
	const leftMs = timer ? timer.at - (world.drains[0]?.clock.now() ?? 0) : 0;
	return leftMs > loginMs / 2 && world.network.waiting("drain-1").length === 0;
}
