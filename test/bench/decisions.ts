// Measures how much longer one eviction takes than a bare eviction call. The two alternate, so that both run under the same conditions.
import { setTimeout as delay } from "node:timers/promises";
import { bareEvictor, openEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { benchPods } from "./rates.ts";
import { quantile } from "./statistics.ts";
import { createRoomyWorkload } from "./workload.ts";

const pauseMs = 100;
const pairs = { full: 60, short: 20, small: 3 };

export const decisions: Measurement = {
	name: "decision",
	ratios: ["decision_over_bare_ms", "decision_over_bare_ms_p99"],
	on: "fleet",
	runs: { full: 3, short: 1 },
	seconds: { once: 11, each: 26 },
	async measure(bench, runs) {
		await using workload = await createRoomyWorkload(bench, bench.isSmall ? 6 : 60);
		const engine = await openEvictor(bench);
		const bare = bareEvictor(bench);
		const p50: number[] = [];
		const p99: number[] = [];
		const details: object[] = [];
		try {
			const takeTurns = async (count: number): Promise<Readonly<Record<"ours" | "bare", readonly number[]>>> => {
				await workload.ready();
				const pods = [...(await benchPods(workload))];
				const times = { ours: new Array<number>(), bare: new Array<number>() };
				for (let pair = 0; pair < count; pair += 1) {
					for (const [name, evictor] of [
						["ours", engine],
						["bare", bare],
					] as const) {
						const pod = pods.shift();
						if (!pod) throw new Error("the pods have run out");
						await delay(pauseMs);
						const startedAt = performance.now();
						await evictor.evict(pod);
						times[name].push(performance.now() - startedAt);
					}
				}
				return times;
			};
			// Not counted: agents are slower in their first minute.
			if (!bench.isSmall) await takeTurns(pairs.full);
			for (let run = 1; run <= runs; run += 1) {
				const times = await takeTurns(bench.isSmall ? pairs.small : runs > 1 ? pairs.full : pairs.short);
				const at = (part: number) => ({ ours: quantile(times.ours, part), bare: quantile(times.bare, part) });
				const [middle, worst] = [at(0.5), at(0.99)];
				p50.push(middle.ours - middle.bare);
				p99.push(worst.ours - worst.bare);
				details.push({ p50: middle, p99: worst });
				bench.log(
					`  run ${run}: p50 ${middle.ours.toFixed(1)} ms, bare ${middle.bare.toFixed(1)}; ` +
						`p99 ${worst.ours.toFixed(1)} ms, bare ${worst.bare.toFixed(1)}`,
				);
			}
		} finally {
			await engine.close();
		}
		return { ratios: { decision_over_bare_ms: p50, decision_over_bare_ms_p99: p99 }, details: { eachRun: details } };
	},
};
