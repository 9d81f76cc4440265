// What a shell waits for at the Tab key: from the start of the program, as the scripts of `completion` call it, to its end. An answer
// without names is one too, where they would have come too late.
import { spawn } from "node:child_process";
import type { Bench } from "../bench.ts";
import { endedChildrenCpuMs } from "../cpu-time.ts";
import type { Measurement } from "../measurement.ts";
import { programEnvironment, programPath } from "../programs.ts";
import { median, quantile } from "../statistics.ts";
import { createWorkload } from "../workload.ts";
import { loadText } from "./screen.ts";

const calls = 20;

export const completion: Measurement = {
	name: "ui-completion",
	group: "ui",
	ratios: ["ui_complete_ms", "ui_complete_ms_p99", "ui_complete_cpu_ms", "ui_complete_answered"],
	on: "screens",
	runs: { full: 3, short: 1 },
	onlyByName: true,
	async measure(bench, runs) {
		const clients = bench.fleet.clusters.map(({ client }) => client);
		await using workload = await createWorkload({ clients, apps: 3, replicas: 1, budget: { maxUnavailable: 1 } });
		const words = ["budgets", "--context", `${bench.fleet.contexts[0]}-operator`, "-n", workload.namespace, ""];
		await complete(bench, words);
		const ratios = {
			ui_complete_ms: new Array<number>(),
			ui_complete_ms_p99: new Array<number>(),
			ui_complete_cpu_ms: new Array<number>(),
			ui_complete_answered: new Array<number>(),
		};
		for (let run = 1; run <= runs; run += 1) {
			const times: number[] = [];
			let answered = 0;
			const before = endedChildrenCpuMs();
			for (let call = 0; call < calls; call += 1) {
				const { ms, values } = await complete(bench, words);
				times.push(ms);
				if (values.includes("web-0")) answered += 1;
			}
			const cpu = (endedChildrenCpuMs() - before) / calls;
			ratios.ui_complete_ms.push(median(times));
			ratios.ui_complete_ms_p99.push(quantile(times, 0.99));
			ratios.ui_complete_cpu_ms.push(cpu);
			ratios.ui_complete_answered.push(answered / calls);
			bench.log(
				`  run ${run}: p50 ${median(times).toFixed(0)} ms, slowest ${Math.max(...times).toFixed(0)} ms, ${cpu.toFixed(0)} ms ` +
					`of a processor, ${answered} of ${calls} with names; ${loadText()}`,
			);
		}
		return { ratios };
	},
};

function complete(
	bench: Bench,
	words: readonly string[],
): Promise<{ readonly ms: number; readonly values: readonly string[] }> {
	return new Promise((resolve, reject) => {
		const startedAt = performance.now();
		const child = spawn(programPath(bench, "kubectl-xpdb"), ["__complete", ...words], {
			env: { ...process.env, ...programEnvironment(bench) },
			stdio: ["ignore", "pipe", "ignore"],
		});
		let output = "";
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			output += text;
		});
		child.once("error", reject);
		child.once("close", (code) => {
			const ms = performance.now() - startedAt;
			if (code === 0) resolve({ ms, values: output.split("\n") });
			else reject(new Error(`__complete ended with ${code}`));
		});
	});
}
