// Scenarios of pre-activities: annotations that keep a pod from being evicted until they are removed. They can appear at any moment.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet } from "./scenario-parts.ts";
import { isCall, nobodyIsEvicted, reserved } from "./staging.ts";
import type { World } from "./world.ts";

const appears = "the pre-activity of web-0 appears";
const ends = "the pre-activity of web-0 ends";

function changes(name: string, isThere: boolean, when: (world: World) => boolean, times = 1): EventData<World> {
	return {
		name,
		times,
		when: (world) => {
			const found = world.cluster("c1").server.getPod({ namespace: "shop", name: "web-0" });
			return found.kind === "present" && found.pod.preActivities.length > 0 !== isThere && when(world);
		},
		run: (world) =>
			void world.cluster("c1").server.changePod(world.pod("c1", "web-0"), { preActivities: isThere ? ["backup"] : [] }),
	};
}

function hasPreActivity(world: World): void {
	world.cluster("c1").server.changePod(world.pod("c1", "web-0"), { preActivities: ["backup"] });
}

export const preActivityScenarios: readonly Scenario<World>[] = [
	{
		name: "pre-activities",
		about: "A pre-activity of a pod ends and appears again at any moment, while reservations are cancelled",
		clusters: [cluster("c1", 3)],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 5 }), drain("drain-2", ["c1/web-1"])],
		prepare: hasPreActivity,
		events: [changes(ends, false, () => true, 2), changes(appears, true, () => true, 2)],
		limits: { drainJumps: 2, cancels: 1, evidence: 1, gaveUp: 1, agentJumps: 1, touches: 1 },
		hasThinRuns: true,
	},
	{
		name: "pre-activity-not-started",
		about: "A pod that has not started is asked for, and has a pre-activity that never ends",
		clusters: [cluster("c1", 3, { agents: 1, workloads: [statefulSet(3, { unready: [0], pending: [0] })] })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 2 })],
		prepare: hasPreActivity,
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: ({ what }) => what.endsWith("becomes ready"),
	},
	{
		name: "pre-activity-there",
		about: "A pod that is asked for has a pre-activity that never ends",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 2 })],
		prepare: hasPreActivity,
		events: [
			{
				name: "web-0 was not told",
				when: ({ drains }) => drains.every(({ finished }) => finished),
				run: (world) => {
					if (!world.cluster("c1").server.hasPendingDisruption(world.pod("c1", "web-0")))
						world.bug("c1/agent-0", new Error("web-0 was asked for and was not told"));
				},
			},
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: () => false,
	},
	{
		name: "pre-activity-since-the-grant",
		about: "A pod gets a pre-activity while the eviction that it was granted for is on its way",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 2 })],
		events: [changes(appears, true, (world) => reserved(world, "web-0") !== undefined && nobodyIsEvicted(world))],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		probe: false,
		holdsBack: (step, world) => isCall(step, "drain-1", "evict") && world.times(appears) === 0,
	},
];
