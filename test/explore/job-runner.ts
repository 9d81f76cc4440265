// Runs one job in this thread: a number of schedules, up to the first that fails, or one search.
import type { Job, JobFailure, JobResult } from "./job.ts";
import { scheduleSeed } from "./random.ts";
import { runRandom } from "./run.ts";
import { findScenario } from "./scenarios.ts";
import { search } from "./search.ts";
import type { StrategyName } from "./strategy-name.ts";

const none = new Uint32Array();

export async function runJob(job: Job): Promise<JobResult> {
	const startedAt = cpuMs();
	const result = job.kind === "search" ? await runSearch(job) : await runSchedules(job);
	return { ...result, cpuMs: cpuMs() - startedAt };
}

async function runSearch(job: Job & { readonly kind: "search" }): Promise<Omit<JobResult, "cpuMs">> {
	const { kind, scenario } = job;
	const { runs, states, isComplete, failure } = await search(findScenario(scenario), job);
	const found = failure && {
		replay: failure.choices.join(".") || "0",
		violation: failure.violation,
		schedule: runs,
	};
	const counts = { schedules: runs, steps: 0, evictions: 0, pods: 0, states, isComplete, strategies: {} };
	return { kind, scenario, ...counts, once: none, several: none, ...(found && { failure: found }) };
}

async function runSchedules(job: Job & { readonly kind: "random" }): Promise<Omit<JobResult, "cpuMs">> {
	const { kind, settles } = job;
	const scenario = findScenario(job.scenario);
	const strategies: Partial<Record<StrategyName, number>> = {};
	const once = new Set<number>();
	const several = new Set<number>();
	let schedules = 0;
	let steps = 0;
	let evictions = 0;
	let pods = 0;
	let failure: JobFailure | undefined;
	while (schedules < job.count && !failure) {
		const number = job.from + schedules;
		const seed = scheduleSeed(job.seed, scenario.name, number);
		const run = await runRandom(scenario, seed, { settles });
		schedules += 1;
		steps += run.steps;
		evictions += run.evictions;
		pods += run.pods;
		strategies[run.strategy] = (strategies[run.strategy] ?? 0) + 1;
		for (const state of run.states) {
			if (once.delete(state)) several.add(state);
			else if (!several.has(state)) once.add(state);
		}
		const { violation } = run;
		if (violation) failure = { replay: String(seed), violation, schedule: number + 1 };
	}
	return {
		kind,
		scenario: scenario.name,
		schedules,
		steps,
		evictions,
		pods,
		states: 0,
		isComplete: false,
		strategies,
		once: Uint32Array.from(once),
		several: Uint32Array.from(several),
		...(failure && { failure }),
	};
}

function cpuMs(): number {
	const { user, system } = process.threadCpuUsage();
	return (user + system) / 1_000;
}
