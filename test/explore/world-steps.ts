// Finds everything that can happen next in a world.
import type { AgentProcess } from "./agent-process.ts";
import type { Drain } from "./drain.ts";
import { hasReservations, reservationsIn } from "./lease-text.ts";
import type { Limits } from "./scenario.ts";
import type { Step, StepKind } from "./scheduler.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { namespace } from "./workload.ts";
import type { World } from "./world.ts";

/** Longer than the time of a Lease, and than the 30 s after which agents cancel a reservation. */
const agentJumpMs = 31_000;
/** Longer than the time for which a grant is used without a new check. */
const drainJumpMs = 1_500;

/** Shorter than a Lease lasts (10 s), and at least as long as the limits of a count (8 s), a sign of life and a call (5 s each). */
const longestPauseSeconds = 8;

/** Returns the possible steps while faults and events can happen. */
export function worldSteps(world: World): readonly Step[] {
	if (world.violation) return [];
	const steps: Step[] = [];
	world.network.addSteps(steps);
	addTimers(world, steps);
	for (const { agents } of world.clusters) for (const agent of agents) if (agent.alive) agent.addWatchSteps(steps);
	addKubeletSteps(world, steps);
	addLimited(world, steps);
	const goingOn: Step[] = [];
	world.options.stops?.addSteps(goingOn);
	steps.push(...goingOn);
	const { holdsBack } = world.scenario;
	if (!holdsBack) return steps;
	const free = steps.filter((step) => goingOn.includes(step) || !holdsBack(step, world));
	// The other processes wait for the stopped one.
	if (goingOn.length > 0 && free.every(({ kind }) => kind === "timer" || kind === "jump")) return goingOn;
	return free.some(({ kind }) => kind !== "timer" && kind !== "jump") ? free : steps;
}

/** Returns the next step at the end of a run: stopped processes first, then the oldest message, then what views and kubelets have to do. */
export function settlingStep(world: World): Step | undefined {
	if (world.violation) return undefined;
	const steps: Step[] = [];
	world.options.stops?.addSteps(steps);
	if (steps[0]) return steps[0];
	world.network.addSteps(steps);
	const message = steps.find(({ kind }) => kind === "message") ?? steps.find(({ kind }) => kind === "late");
	if (message) return message;
	const seen: Step[] = [];
	for (const agent of world.agents()) if (agent.alive) agent.addWatchSteps(seen);
	if (seen.length === 0) addKubeletSteps(world, seen);
	return seen[0];
}

function addKubeletSteps(world: World, steps: Step[]): void {
	const { afterEviction = "replaced" } = world.scenario;
	if (afterEviction === "stays" && !world.settling) return;
	const isReplaced = afterEviction === "replaced" || world.settling;
	for (const { workloads } of world.clusters) {
		for (const workload of workloads) workload.addSteps(steps, { onlyEnds: !isReplaced });
	}
}

/** Adds the next timer of each process. The step moves its clock there. */
function addTimers(world: World, steps: Step[]): void {
	for (const process of world.processes()) {
		const step = process.timerStep();
		if (step) steps.push(step);
	}
}

/**
 * Returns the step of the timer that is due first. In it, the same time passes for all other processes. Take it only if nothing else can
 * happen.
 */
export function nextTimer(world: World): Step | undefined {
	const processes = world.processes();
	const inMs = new Map<string, number>();
	for (const { name, clock, isStopped } of processes) {
		const timer = clock.next();
		if (timer && !isStopped) inMs.set(name, Math.max(timer.at - clock.now(), 0));
	}
	const ms = Math.min(...inMs.values());
	const steps: Step[] = [];
	addTimers(world, steps);
	const step = steps.find(({ actor }) => inMs.get(actor) === ms);
	return (
		step && {
			...step,
			run: () => {
				for (const process of processes) if (process.name !== step.actor) process.clock.jump(ms);
				for (const agent of world.agents()) agent.signOfLife();
				step.run();
			},
		}
	);
}

/** Something that can happen to a process a limited number of times in a run. */
interface Limited<P extends SimulatedProcess> {
	readonly limit: keyof Limits;
	readonly kind: StepKind;
	readonly what: string;
	run(process: P, world: World): void;
}

const drainJump: Limited<Drain> = {
	limit: "drainJumps",
	kind: "jump",
	what: `does nothing for ${drainJumpMs} ms`,
	run: ({ clock }) => clock.jump(drainJumpMs),
};
const crash: Limited<Drain> = {
	limit: "crashes",
	kind: "fault",
	what: "dies",
	run: (drain, world) => world.dies(drain),
};
const stop: Limited<Drain> = { limit: "stops", kind: "event", what: "is told to stop", run: (drain) => drain.stop() };
const pause: Limited<SimulatedProcess> = {
	limit: "pauses",
	kind: "jump",
	what: "does nothing for some seconds",
	run: ({ clock }, world) => clock.jump(1_000 * (1 + world.pick(longestPauseSeconds))),
};
const agentJump: Limited<AgentProcess> = {
	limit: "agentJumps",
	kind: "jump",
	what: `does nothing for ${agentJumpMs} ms`,
	run: (agent) => {
		agent.clock.jump(agentJumpMs);
		agent.signOfLife();
	},
};
const silence: Limited<AgentProcess> = {
	limit: "silences",
	kind: "fault",
	what: "its watches fall silent",
	run: (agent) => {
		agent.isWatching = false;
	},
};
const restart: Limited<AgentProcess> = {
	limit: "restarts",
	kind: "fault",
	what: "dies and starts anew",
	run: (agent, world) => {
		world.cluster(agent.local.id).restartAgent(agent);
		world.network.died(agent);
	},
};
const sweep: Limited<AgentProcess> = {
	limit: "sweeps",
	kind: "agent",
	what: "sweeps",
	run: (agent) => agent.sweep(),
};
const overdueSweep: Limited<AgentProcess> = {
	limit: "sweeps",
	kind: "agent",
	what: "sweeps what is overdue",
	run: (agent) => agent.sweepOverdue(),
};
const cleanUp: Limited<AgentProcess> = {
	limit: "leaseDeletions",
	kind: "agent",
	what: "looks for Leases without a budget",
	run: (agent) => agent.cleanUp(),
};

/** Adds the step. The caller checks first whether it can happen now, because at most steps of a run it cannot. */
function offer<P extends SimulatedProcess>(world: World, steps: Step[], process: P, limited: Limited<P>): void {
	let step = process.offered.get(limited);
	if (!step) {
		const { limit, kind, what } = limited;
		const run = (): void => {
			world.uses(limit);
			limited.run(process, world);
		};
		process.offered.set(limited, (step = { kind, actor: process.name, what, run }));
	}
	steps.push(step);
}

function addLimited(world: World, steps: Step[]): void {
	for (const cluster of world.clusters) {
		for (const agent of cluster.agents) addAgentSteps(world, cluster, agent, steps);
		if (world.may("touches") || world.may("failures") || world.may("finishes")) addPodSteps(world, cluster, steps);
	}
	for (const drain of world.drains) {
		if (drain.finished || !drain.alive || drain.isStopped) continue;
		if (world.may("drainJumps")) offer(world, steps, drain, drainJump);
		if (world.may("crashes")) offer(world, steps, drain, crash);
		if (world.may("stops")) offer(world, steps, drain, stop);
	}
	if (world.may("pauses")) {
		for (const process of world.processes()) {
			if (!process.isStopped && world.network.isWaiting(process)) offer(world, steps, process, pause);
		}
	}
	for (const event of world.scenario.events ?? []) {
		if (world.times(event.name) >= (event.times ?? 1) || !(event.when?.(world) ?? true)) continue;
		const run = (): void => {
			world.uses(event.name);
			event.run(world);
			world.oracle.configChanged();
		};
		steps.push({ kind: "event", actor: "somebody", what: event.name, run });
	}
}

function addAgentSteps(world: World, cluster: SimulatedCluster, agent: AgentProcess, steps: Step[]): void {
	if (agent.isStopped) return;
	if (world.may("agentJumps")) offer(world, steps, agent, agentJump);
	if (world.may("silences") && agent.isWatching) offer(world, steps, agent, silence);
	if (world.may("restarts")) offer(world, steps, agent, restart);
	if (world.may("sweeps")) {
		offer(world, steps, agent, sweep);
		if (hasReservations(cluster.server)) offer(world, steps, agent, overdueSweep);
	}
	if (world.may("leaseDeletions") && hasLeaseWithoutBudget(cluster)) offer(world, steps, agent, cleanUp);
	if (!world.may("cancels") && !world.may("evidence")) return;
	const standing = reservationsIn(cluster.server);
	const add = (limit: "cancels" | "evidence", what: string, task: string, run: () => Promise<unknown>): void => {
		const happens = (): void => {
			world.uses(limit);
			agent.task(task, run);
		};
		steps.push({ kind: "agent", actor: agent.name, what, run: happens });
	};
	if (world.may("cancels")) {
		for (const { budget, id } of standing) {
			add("cancels", `cancels reservation ${id}`, `cancels ${id}`, () =>
				agent.local.cancel({ namespace, name: budget }, [id], { sent: true }),
			);
		}
	}
	if (!world.may("evidence")) return;
	for (const budget of new Set(standing.map((reservation) => reservation.budget))) {
		add("evidence", `ends reservations of ${budget} on evidence`, `evidence ${budget}`, () =>
			agent.local.endOnEvidence({ namespace, name: budget }),
		);
	}
}

function hasLeaseWithoutBudget({ server }: SimulatedCluster): boolean {
	const budgetOf = (annotations: Readonly<Record<string, string>>) => annotations["xpdb.form3.tech/budget"] ?? "";
	return [...server.leases.values()].some(({ annotations }) => !server.budgets.has(budgetOf(annotations)));
}

function addPodSteps(world: World, { id, server, workloads }: SimulatedCluster, steps: Step[]): void {
	const add = (limit: "touches" | "failures" | "finishes", what: string, run: () => void): void => {
		const happens = (): void => {
			world.uses(limit);
			run();
		};
		steps.push({ kind: "event", actor: id, what, run: happens });
	};
	for (const workload of workloads) {
		for (const slot of workload.slots) {
			const pod = workload.podIn(slot);
			if (!pod || pod.terminating) continue;
			if (world.may("touches"))
				add("touches", `somebody writes to pod ${pod.name}`, () => void server.changePod(pod, {}));
			if (pod.finished) continue;
			if (world.may("finishes")) {
				const finishes = (ready: boolean) => (): void => {
					workload.finish(slot, { ready });
					world.oracle.configChanged();
				};
				add("finishes", `pod ${pod.name} finishes`, finishes(false));
				if (pod.ready) add("finishes", `pod ${pod.name} is marked as failed`, finishes(true));
			}
			if (!pod.ready || !world.may("failures")) continue;
			const fails = (change: { readonly terminating: true } | { readonly ready: false }) => (): void => {
				server.changePod(pod, change);
				slot.down ??= { cause: "involuntary", revision: server.revision };
			};
			add("failures", `somebody deletes pod ${pod.name}`, fails({ terminating: true }));
			add("failures", `pod ${pod.name} fails`, fails({ ready: false }));
		}
	}
}
