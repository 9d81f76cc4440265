// Tries inputs of the chosen targets on the shipped code, and prints a table of them.
import { createProgressLine } from "../explore/progress-line.ts";
import type { FuzzJob, FuzzResult } from "./fuzz-job.ts";
import { runFuzzJobs, threads } from "./fuzz-pool.ts";
import type { FuzzTarget } from "./fuzz-target.ts";

/** Inputs of one job at a share of 1: enough to be worth a message, and few enough that the targets take turns. */
const inputsPerJob = 1_000;

/** Returns whether nothing was found. Every target gets its share, even if another one fails. */
export async function fuzzInputs(
	targets: readonly FuzzTarget[],
	{ inputs, seed }: { readonly inputs: number; readonly seed: number },
): Promise<boolean> {
	const jobs = jobsOf(targets, inputs, seed);
	const total = jobs.reduce((sum, job) => sum + job.inputs, 0);
	const sums = new Map(targets.map(({ name }) => [name, { inputs: 0, cpuMs: 0 }]));
	const failures = new Map<string, FuzzResult>();
	const progress = createProgressLine();
	const startedAt = performance.now();
	await runFuzzJobs(jobs, {
		mutant: undefined,
		threads,
		onProgress: (begun) => progress.show(`${begun} of ${total} inputs, ${failures.size} targets failed`),
		onResult(result) {
			const sum = sums.get(result.target);
			if (sum) {
				sum.inputs += result.inputs;
				sum.cpuMs += result.cpuMs;
			}
			if (result.failure && !failures.has(result.target)) {
				failures.set(result.target, result);
				progress.clear();
				report(result, seed);
			}
		},
		isEnough: () => false,
	});
	progress.clear();
	const width = Math.max(...targets.map(({ name }) => name.length));
	console.log(`${"target".padEnd(width)}     inputs  a second  reads`);
	for (const { name, reads } of targets) {
		const { inputs: tried, cpuMs } = sums.get(name) ?? { inputs: 0, cpuMs: 0 };
		const rate = cpuMs > 0 ? Math.round((tried / cpuMs) * 1_000) : 0;
		const mark = failures.has(name) ? "FAILED: " : "";
		console.log(`${name.padEnd(width)}  ${String(tried).padStart(9)}  ${String(rate).padStart(8)}  ${mark}${reads}`);
	}
	const seconds = (performance.now() - startedAt) / 1_000;
	const done = [...sums.values()].reduce((sum, each) => sum + each.inputs, 0);
	console.log(
		`${done} inputs with seed ${seed} in ${seconds.toFixed(1)} s (${Math.round(done / seconds)} a second), ` +
			`${failures.size} of ${targets.length} targets failed`,
	);
	return failures.size === 0;
}

function jobsOf(targets: readonly FuzzTarget[], inputs: number, seed: number): FuzzJob[] {
	const shares = targets.reduce((sum, { share }) => sum + share, 0);
	const queues = targets.map(({ name, share }) => {
		const each = Math.max(1, Math.round((inputs * share) / shares));
		const perJob = Math.max(10, Math.round(inputsPerJob * share));
		const parts = Math.ceil(each / perJob);
		return Array.from(
			{ length: parts },
			(_, part): FuzzJob => ({ target: name, seed, part, inputs: Math.min(perJob, each - part * perJob) }),
		);
	});
	// In turns, so that every target starts early.
	const jobs: FuzzJob[] = [];
	for (let turn = 0; queues.some((queue) => turn < queue.length); turn += 1) {
		for (const queue of queues) jobs.push(...queue.slice(turn, turn + 1));
	}
	return jobs;
}

export function report({ target, failure }: FuzzResult, seed: number): void {
	if (!failure) return;
	console.log(`FOUND by ${target}: ${failure.message}`);
	console.log(`Input: ${failure.input}`);
	console.log(`Again: npm run fuzz -- --only ${target} --seed ${seed} --replay ${failure.replay}`);
}
