// Measures `kubectl xpdb report` of a drain of 5,000 pods: its time and the size of the page.
import { spawn } from "node:child_process";
import { closeSync, openSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../bench.ts";
import { endedChildrenCpuMs } from "../cpu-time.ts";
import type { Measurement } from "../measurement.ts";
import { programEnvironment, programPath } from "../programs.ts";
import { bigRecord } from "./big-record.ts";
import { loadText } from "./screen.ts";

const pods = 5_000;

export const bigReport: Measurement = {
	name: "ui-report",
	group: "ui",
	ratios: ["ui_report_s", "ui_report_cpu_s", "ui_report_mb"],
	on: "screens",
	runs: { full: 5, short: 3 },
	onlyByName: true,
	async measure(bench, runs) {
		const record = join(bench.fleet.dir, "bin", "run.ndjson");
		const page = join(bench.fleet.dir, "bin", "run.html");
		writeFileSync(record, bigRecord(pods));
		const seconds: number[] = [];
		const cpu: number[] = [];
		const megabytes: number[] = [];
		await report(bench, record, page);
		for (let run = 1; run <= runs; run += 1) {
			const before = endedChildrenCpuMs();
			seconds.push(await report(bench, record, page));
			cpu.push((endedChildrenCpuMs() - before) / 1_000);
			megabytes.push(statSync(page).size / 1_000_000);
			bench.log(
				`  run ${run}: ${pods} pods in ${seconds.at(-1)?.toFixed(2)} s, of which ${cpu.at(-1)?.toFixed(2)} of a processor, ` +
					`${megabytes.at(-1)?.toFixed(2)} MB; ${loadText()}`,
			);
		}
		return {
			ratios: { ui_report_s: seconds, ui_report_cpu_s: cpu, ui_report_mb: megabytes },
			details: { pods, recordBytes: statSync(record).size },
		};
	},
};

/** Returns seconds. */
function report(bench: Bench, record: string, page: string): Promise<number> {
	return new Promise((resolve, reject) => {
		const out = openSync(page, "w");
		const startedAt = performance.now();
		const child = spawn(programPath(bench, "kubectl-xpdb"), ["report", record], {
			env: { ...process.env, ...programEnvironment(bench) },
			stdio: ["ignore", out, "inherit"],
		});
		child.once("error", reject);
		child.once("close", (code) => {
			closeSync(out);
			if (code === 0) resolve((performance.now() - startedAt) / 1_000);
			else reject(new Error(`report ended with ${code}`));
		});
	});
}
