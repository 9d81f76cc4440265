// Measures the time from the start of the process to the first frame and row of `budgets -w`, compared with `budgets`.
// The two alternate, so that both run under the same conditions.
import type { Bench } from "../bench.ts";
import { cpuMs } from "../cpu-time.ts";
import type { Measurement } from "../measurement.ts";
import { median } from "../statistics.ts";
import { createWorkload } from "../workload.ts";
import { contextFlag, loadText, openScreen } from "./screen.ts";

const apps = 10;
const turns = { full: 10, short: 5 };

export const screenStart: Measurement = {
	name: "ui-start",
	group: "ui",
	ratios: ["ui_first_frame_ms", "ui_first_frame_cpu_ms", "ui_first_row_over_list"],
	on: "screens",
	runs: { full: 3, short: 1 },
	onlyByName: true,
	async measure(bench, runs) {
		const clients = bench.fleet.clusters.map(({ client }) => client);
		await using workload = await createWorkload({ clients, apps, replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = workload;
		// Not counted: the first run fills the caches.
		await takeTurn(bench, namespace);
		const firstFrame: number[] = [];
		const firstFrameCpu: number[] = [];
		const ratios: number[] = [];
		const all: (readonly Turn[])[] = [];
		for (let run = 1; run <= runs; run += 1) {
			const taken: Turn[] = [];
			for (let turn = 0; turn < turns[runs > 1 ? "full" : "short"]; turn += 1)
				taken.push(await takeTurn(bench, namespace));
			const of = (key: keyof Turn): number => median(taken.map((turn) => turn[key]));
			firstFrame.push(of("frameMs"));
			firstFrameCpu.push(of("frameCpuMs"));
			ratios.push(of("watchRowMs") / of("listRowMs"));
			all.push(taken);
			bench.log(
				`  run ${run}: first frame ${of("frameMs").toFixed(0)} ms, of which ${of("frameCpuMs")} of a processor; first row ` +
					`${of("watchRowMs").toFixed(0)} ms (without -w ${of("listRowMs").toFixed(0)}); ${loadText()}`,
			);
		}
		return {
			ratios: {
				ui_first_frame_ms: firstFrame,
				ui_first_frame_cpu_ms: firstFrameCpu,
				ui_first_row_over_list: ratios,
			},
			details: { turns: all },
		};
	},
};

interface Turn {
	readonly frameMs: number;
	/** The processor time used until the first frame. */
	readonly frameCpuMs: number;
	readonly watchRowMs: number;
	readonly listRowMs: number;
}

async function takeTurn(bench: Bench, namespace: string): Promise<Turn> {
	const args = ["budgets", "-n", namespace, contextFlag(bench)];
	const row = new RegExp(`${namespace}[ /]+web-\\d`);
	using watch = openScreen(bench, [...args, "-w"]);
	const frameMs = await watch.timeTo(new RegExp(`c1-operator.*BUDGET +ALLOWED +HEALTHY`, "s"));
	const frameCpuMs = cpuMs(watch.terminal.pid);
	const watchRowMs = await watch.timeTo(row);
	watch.terminal.press("q");
	await watch.terminal.ended;
	using list = openScreen(bench, args);
	const listRowMs = await list.timeTo(row);
	await list.terminal.ended;
	return { frameMs, frameCpuMs, watchRowMs, listRowMs };
}
