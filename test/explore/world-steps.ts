// Everything that may happen in a world next, besides messages.
import type { AgentProcess } from "./agent-process.ts";
import { reservationsIn } from "./lease-text.ts";
import type { Limits } from "./scenario.ts";
import type { Step, StepKind } from "./scheduler.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import { namespace } from "./workload.ts";
import type { World } from "./world.ts";

/** Past the lease time, a plugin's reservations and everything else that an agent counts. */
const agentJumpMs = 31_000;
/** Past the time for which a grant is used without asking. */
const drainJumpMs = 1_500;

/** Less than the time of a Lease, about that of a count, of a sign of life and of a call. */
const longestPauseSeconds = 8;

/** While faults and events may happen. */
export function worldSteps(world: World): readonly Step[] {
	if (world.violation) return [];
	const steps: Step[] = [];
	world.network.addSteps(steps);
	addTimers(world, steps);
	for (const { agents } of world.clusters) for (const agent of agents) if (agent.alive) agent.addWatchSteps(steps);
	steps.push(...kubeletSteps(world));
	addLimited(world, steps);
	const { holdsBack } = world.scenario;
	if (!holdsBack) return steps;
	const free = steps.filter((step) => !holdsBack(step, world));
	return free.some(({ kind }) => kind !== "timer" && kind !== "jump") ? free : steps;
}

/** At the end of a run: the oldest message first, then what views and kubelets have to do. */
export function settlingStep(world: World): Step | undefined {
	if (world.violation) return undefined;
	const steps: Step[] = [];
	world.network.addSteps(steps);
	const message = steps.find(({ kind }) => kind === "message") ?? steps.find(({ kind }) => kind === "late");
	if (message) return message;
	const seen: Step[] = [];
	for (const agent of world.agents()) if (agent.alive) agent.addWatchSteps(seen);
	return seen[0] ?? kubeletSteps(world)[0];
}

function kubeletSteps(world: World): readonly Step[] {
	const { afterEviction = "replaced" } = world.scenario;
	if (afterEviction === "stays" && !world.settling) return [];
	const steps: Step[] = [];
	for (const cluster of world.clusters) steps.push(...cluster.kubeletSteps());
	return afterEviction === "replaced" || world.settling ? steps : steps.filter(({ what }) => what.endsWith(" ends"));
}

/** Each process's next timer: its clock moves there. */
function addTimers(world: World, steps: Step[]): void {
	for (const process of world.processes()) {
		const timer = process.clock.next();
		if (!timer) continue;
		steps.push({
			kind: "timer",
			actor: process.name,
			what: `a timer of ${timer.at} ms`,
			run: () => {
				process.learns(() => `timer ${timer.at}`);
				process.clock.fire(timer);
			},
		});
	}
}

/** The timer that is due first, and for everybody else as much time passes: what happens where nothing else can. */
export function nextTimer(world: World): Step | undefined {
	const processes = world.processes();
	const inMs = new Map<string, number>();
	for (const { name, clock } of processes) {
		const timer = clock.next();
		if (timer) inMs.set(name, Math.max(timer.at - clock.now(), 0));
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

/** Who offers something has asked first whether it may happen: most of it may not, and there are many steps. */
type Offer = (limit: keyof Limits, kind: StepKind, actor: string, what: string, run: () => void) => void;

function addLimited(world: World, steps: Step[]): void {
	const offer: Offer = (limit, kind, actor, what, run) => {
		steps.push({
			kind,
			actor,
			what,
			run: () => {
				world.uses(limit);
				run();
			},
		});
	};
	for (const cluster of world.clusters) {
		for (const agent of cluster.agents) agentSteps(world, cluster, agent, offer);
		if (world.may("touches") || world.may("failures")) podSteps(world, cluster, offer);
	}
	for (const drain of world.drains) {
		if (drain.finished || !drain.alive) continue;
		const { name, clock } = drain;
		if (world.may("drainJumps"))
			offer("drainJumps", "jump", name, `does nothing for ${drainJumpMs} ms`, () => clock.jump(drainJumpMs));
		if (world.may("crashes")) offer("crashes", "fault", name, "dies", () => world.dies(drain));
		if (world.may("stops")) offer("stops", "event", name, "is told to stop", () => drain.stop());
	}
	if (world.may("pauses")) {
		for (const { name, clock } of world.processes()) {
			if (world.network.waiting(name).length === 0) continue;
			offer("pauses", "jump", name, "does nothing for some seconds", () =>
				clock.jump(1_000 * (1 + world.pick(longestPauseSeconds))),
			);
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

function agentSteps(world: World, cluster: SimulatedCluster, agent: AgentProcess, offer: Offer): void {
	const { name, clock } = agent;
	if (world.may("agentJumps")) {
		offer("agentJumps", "jump", name, `does nothing for ${agentJumpMs} ms`, () => {
			clock.jump(agentJumpMs);
			agent.signOfLife();
		});
	}
	if (world.may("silences") && agent.isWatching) {
		offer("silences", "fault", name, "its watches fall silent", () => {
			agent.isWatching = false;
		});
	}
	if (world.may("restarts")) {
		offer("restarts", "fault", name, "dies and starts anew", () => {
			cluster.restartAgent(agent);
			world.network.died(agent);
		});
	}
	if (world.may("sweeps")) {
		offer("sweeps", "agent", name, "sweeps", () => agent.sweep());
		if (reservationsIn(cluster.server).length > 0)
			offer("sweeps", "agent", name, "sweeps what is overdue", () => agent.sweepOverdue());
	}
	if (world.may("leaseDeletions") && hasLeaseWithoutBudget(cluster)) {
		offer("leaseDeletions", "agent", name, "looks for Leases without a budget", () => agent.cleanUp());
	}
	if (!world.may("cancels") && !world.may("evidence")) return;
	const standing = reservationsIn(cluster.server);
	if (world.may("cancels")) {
		for (const { budget, id } of standing) {
			offer("cancels", "agent", name, `cancels reservation ${id}`, () =>
				agent.task(`cancels ${id}`, () => agent.local.cancel({ namespace, name: budget }, [id], { sent: true })),
			);
		}
	}
	if (!world.may("evidence")) return;
	for (const budget of new Set(standing.map((reservation) => reservation.budget))) {
		offer("evidence", "agent", name, `ends reservations of ${budget} on evidence`, () =>
			agent.task(`evidence ${budget}`, () => agent.local.endOnEvidence({ namespace, name: budget })),
		);
	}
}

function hasLeaseWithoutBudget({ server }: SimulatedCluster): boolean {
	const budgetOf = (annotations: Readonly<Record<string, string>>) => annotations["xpdb.form3.tech/budget"] ?? "";
	return [...server.leases.values()].some(({ annotations }) => !server.budgets.has(budgetOf(annotations)));
}

function podSteps(world: World, { id, server, workloads }: SimulatedCluster, offer: Offer): void {
	for (const workload of workloads) {
		for (const slot of workload.slots) {
			const pod = workload.podIn(slot);
			if (!pod || pod.terminating) continue;
			if (world.may("touches"))
				offer("touches", "event", id, `somebody writes to pod ${pod.name}`, () => void server.changePod(pod, {}));
			if (!pod.ready || !world.may("failures")) continue;
			const fails = (change: { readonly terminating: true } | { readonly ready: false }) => (): void => {
				server.changePod(pod, change);
				slot.down ??= { cause: "involuntary", revision: server.revision };
			};
			offer("failures", "event", id, `somebody deletes pod ${pod.name}`, fails({ terminating: true }));
			offer("failures", "event", id, `pod ${pod.name} fails`, fails({ ready: false }));
		}
	}
}
