// Measures a drain of 1,000 pods in each of three clusters and the plugin's memory, compared with kubectl drain and with a drain of 100
// pods in each.
import type { Bench } from "./bench.ts";
import { byKubectl, byPlugin, createDrainScene } from "./drains.ts";
import type { Measurement } from "./measurement.ts";

export const big: Measurement = {
	name: "big",
	ratios: ["big_drain_vs_kubectl", "big_drain_vs_100", "big_plugin_mb_per_1000"],
	on: "fleet",
	runs: { full: 1, short: 0 },
	onlyByName: true,
	async measure(bench, runs) {
		const small = await ourDrains(bench, 20, runs);
		await using scene = await createDrainScene(bench, 200);
		// Not counted: right after so many pods are created, the API servers and etcd are still busy.
		await scene.time(byPlugin(bench));
		const ours: number[] = [];
		const peaks: number[] = [];
		const kubectl: number[] = [];
		for (let run = 1; run <= runs; run += 1) {
			ours.push(await scene.time(byPlugin(bench, (mb) => peaks.push(mb))));
			kubectl.push(await scene.time(byKubectl(bench)));
			bench.log(
				`  run ${run}: 3,000 pods in ${ours.at(-1)?.toFixed(1)} s (kubectl ${kubectl.at(-1)?.toFixed(1)} s, 300 pods ` +
					`${small.seconds[run - 1]?.toFixed(1)} s), the plugin with ${peaks.at(-1)?.toFixed(0)} MB (${small.peaks[run - 1]?.toFixed(0)} MB)`,
			);
		}
		const over = (others: readonly number[]) => ours.map((value, run) => value / (others[run] ?? Number.NaN));
		return {
			ratios: {
				big_drain_vs_kubectl: over(kubectl),
				big_drain_vs_100: over(small.seconds),
				big_plugin_mb_per_1000: peaks.map((peak, run) => (peak - (small.peaks[run] ?? Number.NaN)) / 2.7),
			},
			details: {
				seconds: { ours, kubectl, hundred: small.seconds },
				peakMb: { thousand: peaks, hundred: small.peaks },
			},
		};
	},
};

async function ourDrains(bench: Bench, podsPerApp: number, runs: number) {
	await using scene = await createDrainScene(bench, podsPerApp);
	const seconds: number[] = [];
	const peaks: number[] = [];
	// Not counted: warms up the agents.
	await scene.time(byPlugin(bench));
	for (let run = 1; run <= runs; run += 1) {
		seconds.push(await scene.time(byPlugin(bench, (mb) => peaks.push(mb))));
	}
	return { seconds, peaks };
}
