// Ends a run without further faults: everything on its way arrives, and time passes. Then all reservations must have ended, and a round for
// which the budget has room must be granted.
import { reservationsIn } from "./lease-text.ts";
import { drained } from "./scheduler.ts";
import type { World } from "./world.ts";
import { nextTimer, settlingStep } from "./world-steps.ts";

/** A run that has not ended after this many more steps makes no progress and fails. */
const mostSteps = 6_000;
/** Longer than the lease time, and than every time after which agents end reservations. */
const longTimeMs = 31_000;

/** Runs what the code under test does without another step, and shows views what they see without delay. */
export async function letRun(world: World): Promise<void> {
	do await drained();
	while (!world.violation && world.showAtOnce());
}

export async function settle(world: World): Promise<void> {
	world.settling = true;
	for (const agent of world.agents()) agent.watchesComeBack();
	for (const drain of world.drains) drain.resume();
	await finish(world, () => world.drains.every((drain) => drain.finished || !drain.alive));
	if (!world.violation && !world.isTroubled) checkGivenBack(world);
	for (let pass = 0; pass < 6 && !world.violation && left(world).length > 0; pass += 1) {
		passTime(world, longTimeMs);
		for (const agent of world.agents()) agent.sweep();
		// An agent that restarted and lost its first list has a timer until it lists again.
		await finish(world, () => world.agents().every((agent) => !agent.alive || agent.isStarted));
	}
	const [still] = left(world);
	if (still) fail(world, `reservation ${still.id} of pod ${still.pod} stands for ever`);
	if (world.violation || world.scenario.probe === false) return;
	await probeFinished(world);
	if (!world.violation) await probe(world);
}

/** Unless a fault hit a message or a process, each granted pod must be evicted or given back. */
function checkGivenBack(world: World): void {
	for (const { id, server } of world.clusters) {
		for (const { uid, pod, holder } of reservationsIn(server)) {
			const alive = server.pods().some((each) => each.uid === uid && !each.terminating && !each.finished);
			if (alive) fail(world, `${holder} is done, and its reservation of pod ${pod} in cluster ${id} was left`, "leak");
		}
	}
}

/** Once everything is quiet, a pod for which the budget has room must be evicted. */
async function probe(world: World): Promise<void> {
	passTime(world, longTimeMs);
	for (const { id, workloads } of world.clusters) {
		for (const workload of workloads) {
			// Pods without a scale may have to wait for a controller, because some bounds need the number of expected pods.
			if (!workload.hasScale) continue;
			for (const slot of workload.slots) {
				const pod = workload.podIn(slot);
				if (!pod || pod.preActivities.length > 0 || slot.down || !world.oracle.hasRoom(slot, pod)) continue;
				// Stops at awaits and lagging views use up some of the attempts.
				const drain = world.startDrain({ name: "probe", pods: [`${id}/${pod.name}`], attempts: 10 });
				await finish(world, () => drain.finished);
				if (drain.evicted === 0)
					fail(world, `a round for pod ${pod.name} is granted nothing at the end: ${drain.last}`);
				return;
			}
		}
	}
}

/** A finished pod must be evictable, whether its budgets have room or not. */
async function probeFinished(world: World): Promise<void> {
	const [found] = world.clusters.flatMap(({ id, server }) =>
		server.pods().flatMap((pod) => (pod.finished && !pod.terminating ? [{ id, pod }] : [])),
	);
	if (!found) return;
	passTime(world, longTimeMs);
	const { id, pod } = found;
	const drain = world.startDrain({ name: "probe-finished", pods: [`${id}/${pod.name}`], attempts: 3 });
	await finish(world, () => drain.finished);
	if (drain.evicted === 0) fail(world, `finished pod ${pod.name} is not evicted at the end: ${drain.last}`);
}

/** Takes steps in the order of settlingStep(), and timers only if nothing else is left to happen. */
async function finish(world: World, isDone: () => boolean): Promise<void> {
	for (let taken = 0; taken < mostSteps; taken += 1) {
		await letRun(world);
		if (world.violation) return;
		const step = settlingStep(world);
		if (step) world.take(step);
		else if (isDone() && world.network.isIdle) return;
		else {
			const timer = nextTimer(world);
			if (!timer) break;
			world.take(timer);
		}
	}
	const stuck = world.drains
		.filter(({ finished, alive }) => alive && !finished)
		.map(({ name, last }) => `${name} (${last})`);
	fail(world, `nothing gets on any more: ${stuck.join(", ") || "the agents"}`);
}

function passTime(world: World, ms: number): void {
	for (const process of world.processes()) process.clock.jump(ms);
	for (const agent of world.agents()) {
		agent.signOfLife();
		agent.seesEverything();
	}
}

function left(world: World) {
	return world.clusters.flatMap(({ server }) => reservationsIn(server));
}

export function fail(world: World, message: string, rule: "liveness" | "leak" = "liveness"): void {
	if (world.violation) return;
	world.violation = { rule, message };
	world.notes(`VIOLATION: ${message}`);
}
