// Runs drains, evictions, clients without xpdb and faults for some minutes, and then looks for what is left behind.
import { setTimeout as delay } from "node:timers/promises";
import type { AuditEvent } from "../../demo/audit/audit.ts";
import type { EndFault } from "../controlplane/faults.ts";
import type { Fleet } from "../controlplane/fleet.ts";
import { seededRandom } from "../explore/random.ts";
import {
	drainForEver,
	evictForEver,
	evictRawForEver,
	failOverForEver,
	type SoakTally,
	scaleForEver,
} from "./actors.ts";
import { AuditTail } from "./audit-tail.ts";
import { forgetMember } from "./forget-member.ts";
import { evictionTimes, judge, type Verdict } from "./judge.ts";
import { evictedPrimaries } from "./judge-primaries.ts";
import { agentMemoryMb, findLeaks } from "./leaks.ts";
import { makeFault, type SoakFault } from "./soak-faults.ts";
import { createWorkloads, healthyPods, namespace, workloads } from "./workload.ts";

export interface SoakOptions {
	readonly fleet: Fleet;
	readonly minutes: number;
	readonly seed: number;
	/** Ends the soak early. Its result is still judged. */
	readonly signal: AbortSignal;
	readonly log: (line: string) => void;
	readonly onMinute: (state: SoakState) => void;
}

export interface SoakState {
	readonly seconds: number;
	readonly verdicts: readonly Verdict[];
	/** The result of evictedPrimaries(), one line for each wrong eviction. */
	readonly evictedPrimaries: readonly string[];
	readonly tally: SoakTally;
	readonly faults: readonly EndedFault[];
	readonly agentMemoryMb: readonly number[];
}

export interface SoakResult extends SoakState {
	readonly leaks: readonly string[];
	/** The longest time without an accepted eviction of ours. */
	readonly longestPauseSeconds: number;
}

export interface EndedFault {
	readonly name: string;
	/** From the fault's end to our next accepted eviction. Undefined if there was none. */
	readonly recoverySeconds: number | undefined;
}

/** The shortest and the longest pause between two faults. A drain can make progress in it, so that recovery can be seen. */
const calmSeconds = { shortest: 2, longest: 8 };
/** The probability that two faults come at once. */
const doubleChance = 0.25;

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
	const { fleet, seed, signal, log } = options;
	const startedAt = performance.now();
	const deadline = AbortSignal.timeout(options.minutes * 60_000);
	const stop = AbortSignal.any([signal, deadline]);
	const tally: SoakTally = { runs: new Map(), refusals: 0, crashes: [] };
	const soak = { fleet, random: seededRandom(seed), stop, tally };
	await createWorkloads(fleet.clusters);
	await untilHealthy(fleet);
	const begunAt = Date.now() * 1000;

	const tails = fleet.clusters.map(
		({ name, auditLog }) =>
			new AuditTail({ cluster: name, path: auditLog, wanted: (event) => event.namespace === namespace }),
	);
	const events: AuditEvent[] = [];
	const ended: { readonly name: string; readonly at: number }[] = [];
	const look = (): SoakState => {
		events.push(...tails.flatMap((tail) => tail.read()));
		events.sort((a, b) => a.completedAt - b.completedAt);
		const times = evictionTimes(events);
		return {
			seconds: (performance.now() - startedAt) / 1000,
			verdicts: workloads.map((workload) => judge(events, workload, fleet.clusters.length)),
			evictedPrimaries: evictedPrimaries(events),
			tally,
			faults: ended.map(({ name, at }) => {
				const next = times.find((time) => time > at);
				return { name, recoverySeconds: next === undefined ? undefined : (next - at) / 1e6 };
			}),
			agentMemoryMb: agentMemoryMb(fleet),
		};
	};
	const minutes = setInterval(() => options.onMinute(look()), 60_000);
	try {
		// Failovers continue until the runs end, because the last runs may wait for a primary to become a replica.
		const ran = new AbortController();
		await Promise.all([
			Promise.all([
				...fleet.clusters.map((cluster) => drainForEver(cluster, soak)),
				evictForEver(soak),
				evictForEver(soak),
			]).finally(() => ran.abort()),
			evictRawForEver(soak),
			scaleForEver(soak),
			failOverForEver({ ...soak, stop: AbortSignal.any([signal, ran.signal]) }),
			breakForEver({ ...options, stop }, (fault) => ended.push({ name: fault.name, at: Date.now() * 1000 })),
		]);
	} finally {
		clearInterval(minutes);
	}
	const overAt = Date.now() * 1000;
	log("Waiting for what ends by itself");
	const leaks = await findLeaks(fleet);
	const state = look();
	for (const tail of tails) tail.close();
	return { ...state, leaks, longestPauseSeconds: longestPause([begunAt, ...evictionTimes(events), overAt]) / 1e6 };
}

/** Causes faults in turn, sometimes two at once. Its own random sequence gives the same faults for the same seed. */
async function breakForEver(
	{ fleet, seed, stop, log }: SoakOptions & { readonly stop: AbortSignal },
	onEnd: (fault: SoakFault) => void,
): Promise<void> {
	const random = seededRandom(seed + 1);
	// Only one member is forgotten at a time, because each fault restores the lists that it found.
	let listsAreOurs: Promise<void> = Promise.resolve();
	const forget = async (cluster: string): Promise<EndFault> => {
		const before = listsAreOurs;
		const { promise, resolve } = Promise.withResolvers<void>();
		listsAreOurs = promise;
		await before;
		const end = await forgetMember(fleet.clusters, cluster);
		return async () => {
			await end();
			resolve();
		};
	};
	const world = { control: fleet.control, clusters: fleet.contexts, random, forget };
	const one = async (): Promise<void> => {
		const fault = await makeFault(world);
		const ms = fault.seconds * 1000 * (0.3 + 0.7 * random());
		log(`fault: ${fault.name}, ${(ms / 1000).toFixed(1)} s`);
		const end: EndFault = await fault.start(fleet.control);
		await delay(ms, undefined, { signal: stop }).catch(() => undefined);
		await end();
		onEnd(fault);
	};
	while (!stop.aborted) {
		const isDouble = random() < doubleChance;
		// The second fault begins after the first is chosen, so that the sequence of choices is the same in every run.
		await Promise.all(isDouble ? [one(), delay(1_000).then(one)] : [one()]);
		await delay(calmMs(random), undefined, { signal: stop }).catch(() => undefined);
	}
}

/** Returns how long the pause between two faults is. */
export function calmMs(random: () => number): number {
	const { shortest, longest } = calmSeconds;
	return 1000 * (shortest + (longest - shortest) * random());
}

/** The times must be in order. */
export function longestPause(times: readonly number[]): number {
	return Math.max(...times.map((time, index) => time - (times[index - 1] ?? time)));
}

async function untilHealthy(fleet: Fleet): Promise<void> {
	for (const cluster of fleet.clusters) {
		for (const workload of workloads) {
			while ((await healthyPods(cluster, workload)).length < workload.replicas) await delay(100);
		}
	}
}
