// Measures evictions per minute and the duration of a drain with a round trip of 80 ms on every link. Compares the evictions with those
// over the same links without delay.
import type { Bench } from "./bench.ts";
import { byPlugin, createDrainScene } from "./drains.ts";
import { openEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { evictAll, lanesPerCluster, podsPerCluster } from "./rates.ts";
import { createRoomyWorkload, type Workload } from "./workload.ts";

const roundTripMs = 80;

export const wanRate: Measurement = {
	name: "wan-rate",
	ratios: ["wan_rate"],
	on: "wan",
	runs: { full: 3, short: 0 },
	seconds: { once: 42, each: 15 },
	async measure(bench, runs) {
		await using workload = await createRoomyWorkload(bench, podsPerCluster);
		const near: number[] = [];
		const far: number[] = [];
		for (let run = 1; run <= runs; run += 1) {
			near.push(await rateAt(bench, workload, 0));
			far.push(await rateAt(bench, workload, roundTripMs));
			bench.log(`  run ${run}: ${far.at(-1)?.toFixed(0)} evictions a minute, ${near.at(-1)?.toFixed(0)} without delay`);
		}
		return {
			ratios: { wan_rate: far.map((rate, run) => rate / (near[run] ?? Number.NaN)) },
			details: { perMinute: far, perMinuteWithoutDelay: near, roundTripMs },
		};
	},
};

export const wanDrain: Measurement = {
	name: "wan-drain",
	ratios: ["wan_drain_s"],
	on: "wan",
	runs: { full: 3, short: 0 },
	seconds: { once: 20, each: 27 },
	async measure(bench, runs) {
		await using scene = await createDrainScene(bench);
		const near: number[] = [];
		const far: number[] = [];
		for (let run = 1; run <= runs; run += 1) {
			near.push(await scene.time(byPlugin(bench)));
			await delayLinks(bench, roundTripMs);
			try {
				far.push(await scene.time(byPlugin(bench)));
			} finally {
				await delayLinks(bench, 0);
			}
			bench.log(`  run ${run}: ${far.at(-1)?.toFixed(1)} s, ${near.at(-1)?.toFixed(1)} s without delay`);
		}
		return { ratios: { wan_drain_s: far }, details: { secondsWithoutDelay: near, roundTripMs } };
	},
};

async function rateAt(bench: Bench, workload: Workload, ms: number): Promise<number> {
	await delayLinks(bench, ms);
	const engine = await openEvictor(bench);
	try {
		return await evictAll(workload, engine, bench.fleet.clusters.length * lanesPerCluster);
	} finally {
		await engine.close();
		await delayLinks(bench, 0);
	}
}

async function delayLinks({ fleet: { control } }: Bench, ms: number): Promise<void> {
	for (const link of await control.listLinks()) await control.setLink(link, ms === 0 ? {} : { delayMs: ms / 2 });
}
