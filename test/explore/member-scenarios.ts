// Scenarios of lists of members that are too short although no person has forgotten a member. Agents remember their members and the
// clusters that greet them.
import type { EventData, Scenario } from "./scenario.ts";
import { cluster, drain, statefulSet } from "./scenario-parts.ts";
import { agent, begins } from "./staging.ts";
import type { World } from "./world.ts";

const both = ["c1", "c2"];
/** One pod of this cluster is down, so a round over both clusters grants nothing. */
const second = cluster("c2", 2, { agents: 1, workloads: [statefulSet(2, { unready: [0] })] });

/** Returns an event: c1 leaves c2 out of its list once its agents have written c2 to their Lease of known members. c2 is not forgotten. */
function leavesOut(when: (world: World) => boolean): EventData<World> {
	return {
		name: "c1 leaves c2 out",
		when: (world) => world.cluster("c1").server.leases.has("xpdb-known-members") && when(world),
		run: (world) => {
			world.cluster("c1").named.add("c2");
			world.cluster("c1").declares(["c1"], []);
		},
	};
}

function greets(id: string, times: number): EventData<World> {
	return { name: `${id} greets its members`, times, run: (world) => agent(world, 0, id).greets() };
}

export const memberScenarios: readonly Scenario<World>[] = [
	{
		name: "left-out",
		about: "A list loses a member that nobody has forgotten, while rounds run and agents start anew",
		clusters: [cluster("c1", 2), cluster("c2", 1, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 3 }), drain("drain-2", ["c2/web-0"], { attempts: 2 })],
		events: [
			leavesOut(() => true),
			{
				name: "c1 lists both again",
				when: (world) => world.times("c1 leaves c2 out") > 0,
				run: (world) => world.cluster("c1").declares(both, []),
			},
			greets("c1", 1),
			greets("c2", 2),
		],
		limits: { pauses: 3, restarts: 1, agentJumps: 1, drainJumps: 1, lost: 1, answerLost: 1 },
		afterEviction: "stays",
		knowsMembers: true,
		configChanges: true,
		probe: false,
	},
	{
		name: "left-out-and-restarted",
		about: "A list loses a member, and an agent that starts anew reads nothing but the shorter one",
		clusters: [cluster("c1", 2, { agents: 1 }), second],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			leavesOut(({ drains }) => drains.every(({ finished }) => finished)),
			{
				name: "the agent of c1 starts anew",
				when: (world) => world.times("c1 leaves c2 out") > 0,
				run: (world) => void world.cluster("c1").restartAgent(agent(world, 0)),
			},
			begins("drain-2", "c1/web-0", (world) => world.times("the agent of c1 starts anew") > 0),
		],
		limits: {},
		afterEviction: "stays",
		knowsMembers: true,
		configChanges: true,
		probe: false,
		// Each event waits for the one before it, and all of them have to happen.
		holdsBack: () => false,
	},
	{
		name: "greeted",
		about: "A cluster that lists only itself is greeted by one that it does not know, and then asked for a round",
		clusters: [cluster("c1", 2, { agents: 1, fleet: ["c1"] }), { ...second, fleet: both }],
		drains: [],
		events: [
			greets("c2", 1),
			begins("drain-1", "c1/web-0", (world) => world.cluster("c1").named.has("c2"), { members: ["c1"] }),
		],
		limits: {},
		afterEviction: "stays",
		knowsMembers: true,
		configChanges: true,
		probe: false,
		holdsBack: () => false,
	},
];
