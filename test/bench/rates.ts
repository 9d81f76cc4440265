// Measures evictions per minute under one budget with room, compared with bare calls and with the limit of x-pdb's design.
import { type CpuTime, cpuPerThing, cpuTimeOf } from "./cpu-time.ts";
import { type BenchPod, bareEvictor, type Evictor, openEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { inLanes, interleave } from "./worker-lanes.ts";
import { createRoomyWorkload, type Workload } from "./workload.ts";

/**
 * As many evictions as the plugin sends to one API server at a time (`sentAtOnce` in disruption/round/places.ts), so that bare calls have
 * the same concurrency. With as many pods, all are requested at once, as in a drain.
 */
export const lanesPerCluster = 100;
export const podsPerCluster = 100;
const podsPerSmallCluster = 10;
/** x-pdb keeps its lock for 5 s, which limits it to 12 grants per minute under one budget. */
const xpdbPerMinute = 12;

export const rates: Measurement = {
	name: "rate",
	ratios: ["rate_vs_xpdb_design", "rate_vs_bare"],
	on: "fleet",
	runs: { full: 3, short: 1 },
	seconds: { once: 48, each: 21 },
	async measure(bench, runs) {
		const clients = bench.fleet.clusters.map(({ client }) => client);
		const pods = bench.isSmall ? podsPerSmallCluster : podsPerCluster;
		await using workload = await createRoomyWorkload(bench, pods);
		const ours: number[] = [];
		const bare: number[] = [];
		const cpu: object[] = [];
		const lanes = clients.length * lanesPerCluster;
		const measured = async (evictor: Evictor): Promise<{ readonly rate: number; readonly cpu: CpuTime }> => {
			await workload.ready();
			const before = cpuTimeOf(bench);
			const rate = await evictAll(workload, evictor, lanes);
			// The processor time must include all replacements.
			await workload.ready();
			return { rate, cpu: cpuPerThing(before, cpuTimeOf(bench), clients.length * pods) };
		};
		const engine = await openEvictor(bench);
		// Not counted: both evictors first compile code and open connections.
		if (!bench.isSmall) {
			await measured(engine);
			await measured(bareEvictor(bench));
		}
		for (let run = 1; run <= runs; run += 1) {
			const by = { us: await measured(engine), bareCalls: await measured(bareEvictor(bench)) };
			ours.push(by.us.rate);
			bare.push(by.bareCalls.rate);
			cpu.push({ ours: by.us.cpu, bare: by.bareCalls.cpu });
			bench.log(`  run ${run}: ${ours.at(-1)?.toFixed(0)} evictions a minute, bare ${bare.at(-1)?.toFixed(0)}`);
		}
		await engine.close();
		return {
			ratios: {
				rate_vs_xpdb_design: ours.map((rate) => rate / xpdbPerMinute),
				rate_vs_bare: ours.map((rate, run) => rate / (bare[run] ?? Number.NaN)),
			},
			details: { perMinute: ours, barePerMinute: bare, concurrency: lanes, cpuMsPerEviction: cpu },
		};
	},
};

/** Evicts every pod once. Returns evictions per minute. */
export async function evictAll(workload: Workload, evictor: Evictor, lanes: number): Promise<number> {
	await workload.ready();
	const pods = await benchPods(workload);
	const ms = await inLanes(lanes, pods, (pod) => evictor.evict(pod));
	return (pods.length / ms) * 60_000;
}

export async function benchPods(workload: Workload): Promise<readonly BenchPod[]> {
	const lists = await workload.pods();
	return interleave(lists.map((pods, cluster) => pods.map((pod) => ({ cluster, pod }))));
}
