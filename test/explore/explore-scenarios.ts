// The shipped code through all scenarios: random schedules by seed, and all schedules of the small ones.
import type { Job, JobFailure, JobResult } from "./job.ts";
import { createProgressLine } from "./progress-line.ts";
import type { Scenario } from "./scenario.ts";
import { runJobs, threads } from "./worker-pool.ts";

/** So many schedules in one job: enough to be worth the message, few enough to show progress. */
const schedulesPerJob = 50;
/** A run that is longer is not exhausted, and said to be cut. */
const mostSearchedSteps = 400;

/** True where nothing was found. Spreads the schedules evenly over the scenarios. */
export async function exploreRandomly(
	scenarios: readonly Scenario[],
	{ schedules, seed }: { readonly schedules: number; readonly seed: number },
): Promise<boolean> {
	const each = Math.ceil(schedules / scenarios.length);
	const jobs: Job[] = [];
	for (let from = 0; from < each; from += schedulesPerJob) {
		for (const { name } of scenarios) {
			jobs.push({ kind: "random", scenario: name, seed, from, count: Math.min(schedulesPerJob, each - from) });
		}
	}
	const startedAt = performance.now();
	const sums = new Map(scenarios.map(({ name }) => [name, { schedules: 0, steps: 0, evictions: 0, pods: 0 }]));
	const progress = createProgressLine();
	let done = 0;
	const failure = await firstFailure(jobs, (result) => {
		const sum = sums.get(result.scenario);
		if (sum) {
			sum.schedules += result.schedules;
			sum.steps += result.steps;
			sum.evictions += result.evictions;
			sum.pods += result.pods;
		}
		done += result.schedules;
		progress.show(`${done} of ${each * scenarios.length} schedules`);
	});
	progress.clear();
	const width = Math.max(...scenarios.map(({ name }) => name.length), 8);
	console.log(`${"scenario".padEnd(width)}  schedules     steps  evictions`);
	for (const [name, { schedules: count, steps, evictions }] of sums) {
		const cells = [String(count).padStart(9), String(steps).padStart(8), String(evictions).padStart(9)];
		console.log(`${name.padEnd(width)}  ${cells.join("  ")}`);
	}
	const seconds = (performance.now() - startedAt) / 1_000;
	const all = [...sums.values()];
	const perSchedule = (of: "steps" | "pods"): string =>
		(all.reduce((sum, each) => sum + each[of], 0) / Math.max(done, 1)).toFixed(1);
	console.log(
		`${done} schedules with seed ${seed} in ${seconds.toFixed(1)} s (${Math.round(done / seconds)} a second), ` +
			`with ${perSchedule("steps")} steps and ${perSchedule("pods")} pods each`,
	);
	return report(failure);
}

/** True where nothing was found in any small scenario, up to so many states each. */
export async function exploreSearches(
	scenarios: readonly Scenario[],
	{ mostStates }: { readonly mostStates: number },
): Promise<boolean> {
	const jobs = scenarios
		.filter(({ search }) => search !== undefined)
		.map(({ name }): Job => ({ kind: "search", scenario: name, mostStates, mostSteps: mostSearchedSteps }));
	const progress = createProgressLine();
	progress.show(`searching ${jobs.length} small scenarios`);
	const failure = await firstFailure(jobs, ({ scenario, schedules, states, isComplete }) => {
		progress.clear();
		console.log(
			`searched ${scenario}: ${states} states in ${schedules} schedules, ${isComplete ? "all there are within its bounds" : "cut there"}`,
		);
	});
	return report(failure);
}

async function firstFailure(
	jobs: readonly Job[],
	onResult: (result: JobResult) => void,
): Promise<(JobFailure & { readonly scenario: string }) | undefined> {
	let failure: (JobFailure & { readonly scenario: string }) | undefined;
	await runJobs(jobs, {
		mutant: undefined,
		threads,
		onResult(result) {
			onResult(result);
			if (result.failure) failure ??= { ...result.failure, scenario: result.scenario };
		},
		isEnough: (result) => result.failure !== undefined,
	});
	return failure;
}

function report(failure: (JobFailure & { readonly scenario: string }) | undefined): boolean {
	if (!failure) return true;
	console.log(`FOUND in scenario ${failure.scenario}: ${failure.violation.rule}: ${failure.violation.message}`);
	console.log(`See how:  npm run explore -- --scenario ${failure.scenario} --replay ${failure.replay}`);
	return false;
}
