// Measures how long a shell waits for completion after the Tab key: first without cached names, then with those that the first key cached.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import { endedChildrenCpuMs } from "../cpu-time.ts";
import type { Measurement } from "../measurement.ts";
import { programEnvironment, programPath } from "../programs.ts";
import { median, quantile } from "../statistics.ts";
import { createWorkload } from "../workload.ts";
import { loadText } from "./screen.ts";

const calls = 20;
const withinMs = 300;
/** After this time, a person presses the key again. */
const betweenKeysMs = 1_000;

export const completion: Measurement = {
	name: "ui-completion",
	group: "ui",
	ratios: [
		"ui_complete_ms",
		"ui_complete_ms_p99",
		"ui_complete_cpu_ms",
		"ui_complete_first_answered",
		"ui_complete_second_answered",
	],
	on: "screens",
	runs: { full: 3, short: 1 },
	onlyByName: true,
	async measure(bench, runs) {
		const clients = bench.fleet.clusters.map(({ client }) => client);
		await using workload = await createWorkload({ clients, apps: 3, replicas: 1, budget: { maxUnavailable: 1 } });
		const words = ["budgets", "--context", `${bench.fleet.contexts[0]}-operator`, "-n", workload.namespace, ""];
		const hasNames = ({ ms, values }: Completed): boolean => ms <= withinMs && values.includes("web-0");
		await complete(bench, words);
		const ratios = {
			ui_complete_ms: new Array<number>(),
			ui_complete_ms_p99: new Array<number>(),
			ui_complete_cpu_ms: new Array<number>(),
			ui_complete_first_answered: new Array<number>(),
			ui_complete_second_answered: new Array<number>(),
		};
		for (let run = 1; run <= runs; run += 1) {
			const firsts: Completed[] = [];
			const seconds: Completed[] = [];
			const before = endedChildrenCpuMs();
			for (let call = 0; call < calls; call += 1) {
				forgetNames(bench);
				firsts.push(await complete(bench, words));
				await delay(betweenKeysMs);
				seconds.push(await complete(bench, words));
			}
			const cpu = (endedChildrenCpuMs() - before) / calls / 2;
			const times = [...firsts, ...seconds].map(({ ms }) => ms);
			const [first, second] = [firsts, seconds].map((each) => each.filter(hasNames).length);
			ratios.ui_complete_ms.push(median(times));
			ratios.ui_complete_ms_p99.push(quantile(times, 0.99));
			ratios.ui_complete_cpu_ms.push(cpu);
			ratios.ui_complete_first_answered.push((first ?? 0) / calls);
			ratios.ui_complete_second_answered.push((second ?? 0) / calls);
			bench.log(
				`  run ${run}: p50 ${median(times).toFixed(0)} ms, slowest ${Math.max(...times).toFixed(0)} ms, ${cpu.toFixed(0)} ms ` +
					`of a processor, names within ${withinMs} ms at ${first} of ${calls} first keys and ${second} of ${calls} second ones; ${loadText()}`,
			);
		}
		return { ratios };
	},
};

interface Completed {
	readonly ms: number;
	readonly values: readonly string[];
}

function forgetNames(bench: Bench): void {
	const { HOME = "" } = programEnvironment(bench);
	rmSync(join(HOME, ".kube", "cache", "kubectl-xpdb", "names"), { recursive: true, force: true });
}

function complete(bench: Bench, words: readonly string[]): Promise<Completed> {
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
