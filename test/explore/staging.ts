// Parts of staged scenarios: events that wait for a moment, and functions that recognise a moment.
import type { AgentProcess } from "./agent-process.ts";
import { endedReservations, reservationsIn, type StandingReservation } from "./lease-text.ts";
import type { DrainData, EventData } from "./scenario.ts";
import { drain } from "./scenario-parts.ts";
import type { Step } from "./scheduler.ts";
import type { SimulatedApiServer } from "./simulated-api.ts";
import type { World } from "./world.ts";

type Moment = (world: World) => boolean;

/** Longer than the time of a Lease (10 s). A commit whose counts are this old is still accepted. */
const leaseTimeMs = 11_000;
/** Longer than the time for which a grant is used without a new check. */
const freshTimeMs = 1_500;

export function server(world: World, clusterId = "c1"): SimulatedApiServer {
	return world.cluster(clusterId).server;
}

export function agent(world: World, index: number, clusterId = "c1"): AgentProcess {
	const found = world.cluster(clusterId).agents[index];
	if (!found) throw new Error(`no agent ${index} in cluster ${clusterId}`);
	return found;
}

/** Returns the reservation of this pod, in any Lease of c1. */
export function reserved(world: World, pod: string): StandingReservation | undefined {
	return reservationsIn(server(world)).find((reservation) => reservation.pod === pod);
}

export function ended(world: World): number {
	return endedReservations(server(world));
}

export function isHeldBy(world: World, holder: string, clusterId = "c1"): boolean {
	return [...server(world, clusterId).leases.values()].some(({ spec }) => spec.holderIdentity === holder);
}

export function isDone(world: World, name: string): boolean {
	return world.drains.some((each) => each.name === name && each.finished);
}

export function nobodyIsEvicted({ oracle }: World): boolean {
	return oracle.evictions === 0;
}

/**
 * Returns the version at which the eviction of a pod of c1 began. Infinity before that and once the pod is gone, so that no view has
 * reached it.
 */
export function evictedAt(world: World, pod: string): number {
	const found = server(world).getPod({ namespace: "shop", name: pod });
	if (found.kind === "gone" || !found.pod.terminating) return Number.POSITIVE_INFINITY;
	const first = server(world).podEvents.find(({ object }) => object.name === pod && object.terminating);
	return Number(first?.resourceVersion);
}

/** Whether a reservation has ended and no pod was evicted. Before that, another drain would only wait. */
export function isCancelled(world: World): boolean {
	return nobodyIsEvicted(world) && ended(world) > 0;
}

/** Returns how many times this holder acquired Leases of the cluster with written holds. */
export function acquisitionsBy(world: World, holder: string, clusterId = "c1"): number {
	const { leaseEvents } = server(world, clusterId);
	const taken = leaseEvents.filter(({ object }) => object.spec.holderIdentity === holder);
	return new Set(taken.map(({ object }) => `${object.uid} ${object.spec.leaseTransitions}`)).size;
}

/** Whether a call of this process that begins with `what` still waits to be executed. */
export function waitsFor(world: World, from: string, what: string): boolean {
	return world.network.waiting(from).some((asked) => asked.startsWith(what));
}

/** Whether a drain has a timer, and none of its requests waits to be executed. In these scenarios it then waits for its login. */
export function waitsToSend(world: World, name: string): boolean {
	const found = world.drains.find((each) => each.name === name);
	return found?.clock.next() !== undefined && world.network.waiting(name).length === 0;
}

export function isCall({ actor, what }: Step, from: string, begins: string): boolean {
	return actor === from && what.startsWith(begins);
}

/** Whether an eviction names the version that the pod has now. */
export function namesCurrent(what: string, world: World, pod: string, clusterId = "c1"): boolean {
	return what.includes(`version ${world.pod(clusterId, pod).resourceVersion})`);
}

export function begins(name: string, path: string, when: Moment, more: Partial<DrainData> = {}): EventData<World> {
	const data = drain(name, [path], { attempts: 2, agent: 0, ...more });
	return { name: `${name} begins`, when, run: (world) => void world.startDrain(data) };
}

export function cancels(index: number, pod: string, when: Moment, budget = "web"): EventData<World> {
	return {
		name: `agent-${index} cancels the reservation of ${pod}`,
		when: (world) => reserved(world, pod) !== undefined && when(world),
		run: (world) => {
			const id = reserved(world, pod)?.id ?? "";
			const canceller = agent(world, index);
			canceller.task(`cancels ${id}`, () =>
				canceller.local.cancel({ namespace: "shop", name: budget }, [id], { sent: true }),
			);
		},
	};
}

export function endsOnEvidence(index: number, when: Moment): EventData<World> {
	return {
		name: `agent-${index} ends reservations on evidence`,
		when,
		run: (world) => {
			const ender = agent(world, index);
			ender.task("evidence", () => ender.local.endOnEvidence({ namespace: "shop", name: "web" }));
		},
	};
}

/** The agent's clock passes the time of every Lease, so that all holds that it knows expire. Its watches are alive afterwards. */
export function agentSleeps(index: number, when: Moment, clusterId = "c1"): EventData<World> {
	return {
		name: `agent-${index} of ${clusterId} sleeps`,
		when,
		run: (world) => {
			const sleeper = agent(world, index, clusterId);
			sleeper.clock.jump(leaseTimeMs);
			sleeper.signOfLife();
		},
	};
}

/** A person ends this drain's hold in c1. */
export function endsHolding(holder: string): EventData<World> {
	const held = (world: World) => [...server(world).leases.values()].find(({ spec }) => spec.holderIdentity === holder);
	return {
		name: `somebody ends what ${holder} holds`,
		when: (world) => held(world) !== undefined,
		run: (world) => {
			const { uid: leaseUid = "", spec: { leaseTransitions: transitions = 0 } = {} } = held(world) ?? {};
			const asked = agent(world, 0);
			const holding = { budget: { namespace: "shop", name: "web" }, leaseUid, transitions };
			asked.task("ends a holding", () => asked.local.endHolding(holding));
		},
	};
}

/** The drain sleeps until its grants are no longer fresh. */
export function drainSleeps(name: string, when: Moment): EventData<World> {
	return {
		name: `${name} sleeps`,
		when,
		run: (world) => world.drains.find((each) => each.name === name)?.clock.jump(freshTimeMs),
	};
}

/** The pod stops being ready by itself. */
export function fails(pod: string, when: Moment): EventData<World> {
	return {
		name: `${pod} fails`,
		when,
		run: (world) => {
			const c1 = world.cluster("c1");
			const failing = world.pod("c1", pod);
			c1.server.changePod(failing, { ready: false });
			const slot = c1.slotOf(failing);
			if (slot) slot.down ??= { cause: "involuntary", revision: c1.server.revision };
		},
	};
}

/** The pod terminates without an eviction. With `isSeen`, all agents of c1 have seen that. */
export function isDeleted(pod: string, { isSeen = false }: { readonly isSeen?: boolean } = {}): EventData<World> {
	return {
		name: `${pod} is deleted`,
		run: (world) => {
			const c1 = world.cluster("c1");
			const slot = c1.slotOf(c1.server.changePod(world.pod("c1", pod), { terminating: true }));
			if (slot) slot.down = { cause: "involuntary", revision: c1.server.revision };
			if (isSeen) for (const each of c1.agents) each.seesEverything();
		},
	};
}

/** From then on, the pod's eviction costs a disruption. */
export function becomesReady(name: string, when: Moment): EventData<World> {
	return {
		name: `${name} becomes ready`,
		when,
		run: (world) => {
			const c1 = world.cluster("c1");
			const pod = world.pod("c1", name);
			if (pod.terminating || pod.finished) return;
			const slot = c1.slotOf(c1.server.changePod(pod, { ready: true }));
			if (slot) slot.down = undefined;
		},
	};
}

export function lists(index: number, when: Moment): EventData<World> {
	return { name: `agent-${index} lists`, when, run: (world) => agent(world, index).relist() };
}

/** The agent's next timer fires, whatever else is under way. It must be due within a second. */
export function waitsASecond(index: number, when: Moment): EventData<World> {
	const due = (world: World) => {
		const { clock } = agent(world, index);
		const timer = clock.next();
		return timer !== undefined && timer.at - clock.now() <= 1_000;
	};
	return {
		name: `agent-${index} waits for a second`,
		when: (world) => due(world) && when(world),
		run: (world) => agent(world, index).timerStep()?.run(),
	};
}

/** Reports an eviction that the judge excuses. A round cannot always know what forbids an eviction, but here it could. */
export function evictedAllTheSame(
	pod: string,
	after: string,
	why: string,
	isInTime: Moment = () => true,
): EventData<World> {
	return {
		name: `${pod} is evicted all the same`,
		when: (world) => world.times(after) > 0 && isInTime(world) && !nobodyIsEvicted(world),
		run: (world) => world.bug("drain-1", new Error(`${pod} was evicted ${why}`)),
	};
}

export function fallsSilent(index: number, when: Moment = () => true): EventData<World> {
	return {
		name: `the watches of agent-${index} fall silent`,
		when,
		run: (world) => {
			agent(world, index).isWatching = false;
		},
	};
}
