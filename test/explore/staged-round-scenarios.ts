// Scenarios that each force one interleaving of rounds and their Leases. Most runs reach it, and only a safeguard keeps it harmless.
import { reservationsIn } from "./lease-text.ts";
import type { Scenario } from "./scenario.ts";
import { cluster, drain, onlyOnce, web } from "./scenario-parts.ts";
import {
	acquisitionsBy,
	agent,
	agentSleeps,
	begins,
	endsHolding,
	endsOnEvidence,
	isCall,
	isHeldBy,
	nobodyIsEvicted,
	reserved,
	server,
	waitsFor,
} from "./staging.ts";
import type { Step } from "./scheduler.ts";
import type { World } from "./world.ts";

/** Longer than every excuse of a round. */
const stoppedMs = 70_000;

const both = { ...web, tier: "db" };

/**
 * Whether the step must wait in a scenario about a doubled acquire. An acquire waits until one is doubled. The message that the caller of a
 * request no longer waits is always held back, because it could end the double.
 */
function isAsideOfDouble(what: string, kind: string, world: World): boolean {
	if (what.startsWith("learns that")) return true;
	return kind === "message" && what.startsWith("acquire") && world.times("doubled") === 0;
}

/** Whether the pod views of all agents are complete. */
function isListed(world: World): boolean {
	return world.agents().every(({ isSynced }) => isSynced);
}

function isAwaited(world: World): boolean {
	return agent(world, 0).local.lineLength({ namespace: "shop", name: "web" }) > 0;
}

function nobodyHasCommitted({ clusters }: World): boolean {
	return clusters.every(({ server: { leases } }) =>
		[...leases.values()].every(({ spec }) => spec.leaseTransitions === 4),
	);
}

function isCommitBeforeGoingOn(step: Step, world: World): boolean {
	return isCall(step, "drain-1", "commit") && world.times("the plugin goes on") === 0;
}

const stoppedBeforeCommit: Omit<Scenario<World>, "name" | "about"> = {
	clusters: [cluster("c1", 3, { agents: 1 })],
	drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
	events: [
		{
			name: "web is scaled to 6",
			when: (world) => waitsFor(world, "drain-1", "commit"),
			run: (world) => world.cluster("c1").workloads[0]?.scale(6),
		},
		{
			name: "the plugin goes on",
			when: (world) => world.times("web is scaled to 6") > 0,
			run: (world) => {
				for (const { clock } of world.drains) clock.jump(stoppedMs);
				for (const each of world.agents()) {
					each.clock.jump(stoppedMs);
					each.signOfLife();
				}
			},
		},
	],
	limits: {},
	afterEviction: "stays",
	configChanges: true,
	freshViews: true,
	probe: false,
	holdsBack: isCommitBeforeGoingOn,
};

export const stagedRoundScenarios: readonly Scenario<World>[] = [
	{
		name: "late-double",
		about: "A double of an acquire takes the Lease again after another round took it over, committed and evicted",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			agentSleeps(0, (world) => isHeldBy(world, "drain-1")),
			begins("drain-2", "c1/web-1", (world) => world.times("agent-0 of c1 sleeps") > 0),
		],
		limits: { doubled: 1 },
		afterEviction: "stays",
		freshViews: true,
		onlyFails: "acquire",
		holdsBack: (step, world) =>
			isAsideOfDouble(step.what, step.kind, world) ||
			(step.kind === "late" && world.oracle.evictions === 0) ||
			(isCall(step, "drain-1", "commit") && acquisitionsBy(world, "drain-1") < 2),
	},
	{
		name: "lease-reborn",
		about: "A double of an acquire makes the Lease anew that was deleted after its acquisition was lost",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			endsHolding("drain-1"),
			begins("drain-2", "c1/web-1", (world) => world.times("somebody ends what drain-1 holds") > 0, { attempts: 1 }),
			endsOnEvidence(0, (world) => world.oracle.evictions > 0),
			{
				name: "somebody deletes the Lease",
				when: (world) => world.oracle.evictions > 0 && !reserved(world, "web-1"),
				run: (world) => {
					for (const { name, uid, resourceVersion } of server(world).leases.values())
						server(world).deleteLease(name, { uid, resourceVersion });
				},
			},
		],
		limits: { doubled: 1 },
		afterEviction: "stays",
		freshViews: true,
		leasesExist: false,
		onlyFails: "acquire",
		holdsBack: (step, world) =>
			isAsideOfDouble(step.what, step.kind, world) ||
			(step.kind === "late" && world.times("somebody deletes the Lease") === 0) ||
			(isCall(step, "drain-1", "commit") && acquisitionsBy(world, "drain-1") < 2),
	},
	{
		name: "broken-commit",
		about: "A round's commit stands in one cluster, and in the other one its acquisition was lost",
		clusters: [cluster("c1", 2, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			agentSleeps(0, (world) => isHeldBy(world, "drain-1") && isHeldBy(world, "drain-1", "c2"), "c2"),
			begins("drain-2", "c2/web-0", (world) => world.times("agent-0 of c2 sleeps") > 0),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) => isCall(step, "drain-1", "commit") && acquisitionsBy(world, "drain-2", "c2") === 0,
	},
	{
		name: "in-step",
		about: "Two rounds always meet each other half way",
		leaseCallsAtOnce: true,
		clusters: [cluster("c1", 2, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c2/web-0"], { attempts: 1 })],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: ({ actor, what }, world) => {
			const isAt = (call: string, id: string): boolean => what.startsWith(call) && what.includes(` at ${id}/`);
			if (actor === "drain-1") return isAt("acquire", "c2") && !isHeldBy(world, "drain-2", "c2");
			if (actor !== "drain-2") return false;
			const firstHolds = isHeldBy(world, "drain-1");
			return (isAt("acquire", "c1") && !firstHolds) || (isAt("release", "c2") && firstHolds);
		},
	},
	{
		name: "selector-edited",
		about: "The budget's selector is edited between the counts of two rounds",
		clusters: [
			cluster("c1", 0, { workloads: [{ kind: "StatefulSet", name: "web", labels: both, replicas: 3 }], agents: 1 }),
		],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "budget web selects by another label",
				when: (world) => waitsFor(world, "drain-1", "commit"),
				run: (world) => {
					const spec = { selector: { matchLabels: { tier: "db" } }, maxUnavailable: 1 };
					server(world).putBudget({ name: { namespace: "shop", name: "web" }, spec });
				},
			},
			begins("drain-2", "c1/web-1", (world) => world.times("budget web selects by another label") > 0),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		configChanges: true,
		holdsBack: (step, world) =>
			(isCall(step, "drain-1", "commit") && !reserved(world, "web-1")) ||
			(isCall(step, "drain-2", "evict") && world.oracle.evictions === 0),
	},
	{
		name: "restored-between",
		about: "etcd comes back from a backup between two rounds, whose acquisitions then have the same transitions",
		isRestored: true,
		clusters: [cluster("c1", 2, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			{
				name: "etcd is restored",
				when: (world) => waitsFor(world, "drain-1", "commit"),
				run: (world) => world.restore(),
			},
			begins("drain-2", "c2/web-0", (world) => world.times("etcd is restored") > 0 && isListed(world), { attempts: 1 }),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) => {
			const isSecondCounted = waitsFor(world, "drain-2", "commit") || reservationsIn(server(world, "c2")).length > 0;
			if (isCall(step, "drain-1", "commit") && !isSecondCounted) return true;
			// The drain that commits second finds the Lease committed. Where it is granted something, it sees that its reservation is
			// missing.
			const [, id = ""] = / granting nothing at (.+)\//.exec(step.what) ?? [];
			return id !== "" && reservationsIn(server(world, id)).length === 0;
		},
	},
	{
		name: "crossed-steals",
		about: "Each of two rounds loses to the other one the Lease of the cluster in which it is granted nothing",
		clusters: [cluster("c1", 2, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c2/web-0"], { attempts: 1 })],
		events: [
			agentSleeps(0, (world) => isHeldBy(world, "drain-2", "c1"), "c1"),
			agentSleeps(0, (world) => isHeldBy(world, "drain-1", "c2"), "c2"),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) => {
			const comesSecond = (name: string, id: string): boolean =>
				isCall(step, name, "acquire") &&
				step.what.includes(` at ${id}/`) &&
				world.times(`agent-0 of ${id} sleeps`) === 0;
			return comesSecond("drain-1", "c1") || comesSecond("drain-2", "c2");
		},
	},
	{
		name: "counted-side-by-side",
		about: "Two rounds count before either commits, and neither has written a hold",
		writtenHolds: false,
		clusters: [cluster("c1", 2, { agents: 1 }), cluster("c2", 2, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 }), drain("drain-2", ["c2/web-0"], { attempts: 1 })],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: ({ actor, what }, world) =>
			what.startsWith("commit") &&
			!waitsFor(world, actor === "drain-1" ? "drain-2" : "drain-1", "commit") &&
			nobodyHasCommitted(world),
		search: {
			limits: {},
			drains: [onlyOnce("drain-1", "c1/web-0"), onlyOnce("drain-2", "c2/web-0")],
			leaseCallsAtOnce: true,
		},
	},
	{
		name: "past-the-line",
		about: "A Lease has expired for which somebody waits in line, and somebody else asks for it who does not wait",
		writtenHolds: true,
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			begins("drain-2", "c1/web-1", (world) => isHeldBy(world, "drain-1")),
			agentSleeps(0, isAwaited),
			begins("drain-3", "c1/web-2", (world) => world.times("agent-0 of c1 sleeps") > 0),
		],
		limits: {},
		afterEviction: "stays",
		freshViews: true,
		holdsBack: (step, world) => {
			const hasAsked = world.drains.length > 2 && acquisitionsBy(world, "drain-3") > 0;
			if (isCall(step, "drain-1", "commit")) return world.times("agent-0 of c1 sleeps") === 0;
			// The agent's timer would give the Lease to the caller that waits.
			return step.kind === "timer" && step.actor === "c1/agent-0" && isAwaited(world) && !hasAsked;
		},
	},
	{
		name: "commit-unheard",
		about: "A round's commit does not arrive, and its Lease was another round's meanwhile",
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1 })],
		events: [
			agentSleeps(0, (world) => waitsFor(world, "drain-1", "commit")),
			begins("drain-2", "c1/web-1", (world) => world.times("agent-0 of c1 sleeps") > 0),
		],
		limits: { lost: 1 },
		afterEviction: "stays",
		freshViews: true,
		onlyFails: "commit",
		holdsBack: (step, world) => {
			if (!isCall(step, "drain-1", "commit")) return step.kind === "fault";
			return nobodyIsEvicted(world) || (step.kind !== "fault" && world.times("lost") === 0);
		},
	},
	{
		name: "scaled-since-the-count",
		about:
			"A workload is scaled up while a plugin that has counted is stopped for more than a minute before its commit",
		writtenHolds: false,
		...stoppedBeforeCommit,
	},
	{
		name: "scaled-since-a-written-count",
		about: "The same under a Lease that the plugin holds",
		writtenHolds: true,
		...stoppedBeforeCommit,
	},
	{
		name: "counted-again-by-a-double",
		about: "The same, and a double of the acquire counts again before the commit, for nobody",
		writtenHolds: true,
		...stoppedBeforeCommit,
		limits: { doubled: 1 },
		onlyFails: "acquire",
		holdsBack: (step, world) =>
			isAsideOfDouble(step.what, step.kind, world) ||
			(step.kind === "late" && world.times("the plugin goes on") === 0) ||
			(isCall(step, "drain-1", "commit") && waitsFor(world, "drain-1", "acquire")) ||
			isCommitBeforeGoingOn(step, world),
	},
	{
		name: "scaled-since-the-grant",
		about: "A workload is scaled up while a plugin that has a grant is stopped for seconds before its eviction",
		writtenHolds: false,
		clusters: [cluster("c1", 3, { agents: 1 })],
		drains: [drain("drain-1", ["c1/web-0"], { attempts: 1, firstSendAfterMs: 400 })],
		events: [
			{
				name: "web is scaled to 6",
				when: (world) => reserved(world, "web-0") !== undefined && nobodyIsEvicted(world),
				run: (world) => world.cluster("c1").workloads[0]?.scale(6),
			},
			{
				name: "the plugin goes on",
				when: (world) => world.times("web is scaled to 6") > 0,
				run: (world) => {
					for (const { clock } of world.drains) clock.jump(5_000);
				},
			},
		],
		limits: {},
		afterEviction: "stays",
		configChanges: true,
		freshViews: true,
		probe: false,
		holdsBack: (step, world) =>
			step.actor === "drain-1" && reserved(world, "web-0") !== undefined && world.times("the plugin goes on") === 0,
	},
];
