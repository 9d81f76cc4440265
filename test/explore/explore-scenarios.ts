// Runs the shipped code through scenarios: random schedules by seed, and exhaustive searches of the small scenarios.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { addCounts, type Job, type JobFailure, type JobResult, type StrategyCounts } from "./job.ts";
import { createProgressLine } from "./progress-line.ts";
import type { Scenario } from "./scenario.ts";
import { emptySum, type ScenarioSum } from "./scenario-sum.ts";
import { newStatesOf, Spending, type SpendingOptions } from "./spending.ts";
import { runJobs, threads } from "./worker-pool.ts";

const program = join(dirname(fileURLToPath(import.meta.url)), "main.ts");

/** Schedules in one job: enough to be worth the message, and few enough to show progress. */
const schedulesPerJob = 50;
/** The schedules that every scenario without `holdsBack` gets before new states decide, if the total has room for them. */
const freeFloor = 100;
/** The same for a staged scenario (with `holdsBack`). It has few states, and 20 schedules catch nearly all mutants that it is made for. */
const stagedFloor = 40;
/** Beyond its floor, a scenario that brings fewer new states per schedule gets no more schedules, unless it runs alone. */
const leastNewStates = 0.01;
/** A longer run is cut, and the search reports that it is not complete. */
const mostSearchedSteps = 400;

/**
 * Resolves to true if nothing was found. Each scenario gets its floor, as far as `schedules` allows. The rest goes to scenarios that still
 * bring new states.
 */
export async function exploreRandomly(
	scenarios: readonly Scenario[],
	{ schedules, seed }: { readonly schedules: number; readonly seed: number },
): Promise<boolean> {
	const sums = new Map(scenarios.map(({ name }) => [name, emptySum()]));
	const floors = new Map(scenarios.map(({ name, holdsBack }) => [name, holdsBack ? stagedFloor : freeFloor]));
	const share = Math.min(schedules / [...floors.values()].reduce((sum, floor) => sum + floor, 0), 1);
	const floorOf = (name: string): number => Math.max(Math.floor((floors.get(name) ?? freeFloor) * share), 1);
	const options = { total: schedules, floorOf, leastNew: scenarios.length > 1 ? leastNewStates : 0 };
	const startedAt = performance.now();
	const failure = await spend(sums, { ...options, seed });
	printSums(sums);
	const seconds = (performance.now() - startedAt) / 1_000;
	const done = sumOf(sums, "schedules");
	console.log(
		`${done} schedules with seed ${seed} in ${seconds.toFixed(1)} s (${Math.round(done / seconds)} a second), ` +
			`with ${(sumOf(sums, "steps") / Math.max(done, 1)).toFixed(1)} steps and ` +
			`${(sumOf(sums, "pods") / Math.max(done, 1)).toFixed(1)} pods each`,
	);
	return report(failure);
}

/**
 * Runs schedules until enough are spent, one fails or `stop` aborts, and adds them to the sums. The batch of a failed schedule is not
 * added.
 */
export async function spend(
	sums: ReadonlyMap<string, ScenarioSum>,
	{
		seed,
		stop,
		onResult,
		...options
	}: Omit<SpendingOptions, "batch"> & {
		readonly seed: number;
		readonly stop?: AbortSignal;
		readonly onResult?: (result: JobResult) => void;
	},
): Promise<FoundFailure | undefined> {
	const spending = new Spending(sums, { ...options, batch: schedulesPerJob });
	const progress = createProgressLine();
	let done = 0;
	const next = (): Job | undefined => {
		const batch = stop?.aborted ? undefined : spending.next();
		return batch && { kind: "random", seed, ...batch, settles: false };
	};
	const failure = await firstFailure(next, (result) => {
		if (result.failure) return;
		const sum = sums.get(result.scenario);
		if (!sum) return;
		spending.took(result.scenario, result);
		sum.steps += result.steps;
		sum.evictions += result.evictions;
		sum.pods += result.pods;
		sum.strategies = addCounts(sum.strategies, result.strategies);
		done += result.schedules;
		progress.show(`${done} of ${options.total} schedules`);
		onResult?.(result);
	});
	progress.clear();
	return failure;
}

export function printSums(sums: ReadonlyMap<string, ScenarioSum>): void {
	const width = Math.max(...[...sums.keys()].map((name) => name.length), 8);
	console.log(`${"scenario".padEnd(width)}  schedules     steps  evictions   states  new in the next`);
	for (const [name, sum] of sums) {
		const fresh = sum.schedules === 0 ? "-" : newStatesOf(sum).toFixed(2);
		const cells = [
			String(sum.schedules).padStart(9),
			String(sum.steps).padStart(8),
			String(sum.evictions).padStart(9),
			String(sum.seen.size).padStart(7),
			fresh.padStart(15),
		];
		console.log(`${name.padEnd(width)}  ${cells.join("  ")}`);
	}
	const strategies = [...sums.values()].reduce<StrategyCounts>((all, sum) => addCounts(all, sum.strategies), {});
	console.log(
		`by strategy: ${Object.entries(strategies)
			.map((entry) => entry.join(" "))
			.join(", ")}`,
	);
}

export function sumOf(sums: ReadonlyMap<string, ScenarioSum>, of: "schedules" | "steps" | "pods"): number {
	return [...sums.values()].reduce((sum, each) => sum + each[of], 0);
}

/** Resolves to true if no small scenario fails, with at most `mostStates` states each. */
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

export type FoundFailure = JobFailure & { readonly scenario: string };

async function firstFailure(
	jobs: readonly Job[] | (() => Job | undefined),
	onResult: (result: JobResult) => void,
): Promise<FoundFailure | undefined> {
	let failure: FoundFailure | undefined;
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

export function report(failure: FoundFailure | undefined): boolean {
	if (!failure) return true;
	console.log(`FOUND in scenario ${failure.scenario}: ${failure.violation.rule}: ${failure.violation.message}`);
	console.log(`See how:  npm run explore -- --scenario ${failure.scenario} --replay ${failure.replay}`);
	if (!failure.replay.includes(".")) shrinkAside(failure);
	return false;
}

/** Shrinks in a new process, because loadDriven() must run before any driven code is loaded, and this process has loaded some. */
function shrinkAside({ scenario, replay }: FoundFailure): void {
	console.log(`In short: npm run explore -- --scenario ${scenario} --shrink ${replay}`);
	spawnSync(process.execPath, [program, "--scenario", scenario, "--shrink", replay], { stdio: "inherit" });
}
