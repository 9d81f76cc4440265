// Measures six evictors on one budget, compared with one.
import { type EngineEvictor, openEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { benchPods } from "./rates.ts";
import { inLanes } from "./worker-lanes.ts";
import { createRoomyWorkload } from "./workload.ts";

const evictors = 6;
const lanes = 8;
const podsPerEvictor = 40;

export const contention: Measurement = {
	name: "contention",
	ratios: ["contention"],
	on: "fleet",
	runs: { full: 3, short: 0 },
	seconds: { once: 20, each: 19 },
	async measure(bench, runs) {
		const clients = bench.fleet.clusters.map(({ client }) => client);
		await using workload = await createRoomyWorkload(bench, Math.ceil((evictors * podsPerEvictor) / clients.length));
		const engines: EngineEvictor[] = [];
		try {
			for (let count = 0; count < evictors; count += 1) engines.push(await openEvictor(bench));
			const perSecond = async (active: readonly EngineEvictor[]): Promise<number> => {
				await workload.ready();
				const pods = await benchPods(workload);
				const startedAt = performance.now();
				await Promise.all(
					active.map((engine, index) => {
						const own = pods.slice(index * podsPerEvictor, (index + 1) * podsPerEvictor);
						return inLanes(lanes, own, (pod) => engine.evict(pod));
					}),
				);
				return ((active.length * podsPerEvictor) / (performance.now() - startedAt)) * 1_000;
			};
			const one: number[] = [];
			const six: number[] = [];
			for (let run = 1; run <= runs; run += 1) {
				one.push(await perSecond(engines.slice(0, 1)));
				six.push(await perSecond(engines));
				bench.log(`  run ${run}: one ${one.at(-1)?.toFixed(1)} a second, six ${six.at(-1)?.toFixed(1)}`);
			}
			return {
				ratios: { contention: six.map((rate, run) => rate / (one[run] ?? Number.NaN)) },
				details: { onePerSecond: one, sixPerSecond: six, lanes },
			};
		} finally {
			await Promise.all(engines.map((engine) => engine.close()));
		}
	},
};
