// Runs one job in this thread: so many schedules, up to the first that fails, or one search.
import type { Job, JobResult } from "./job.ts";
import { scheduleSeed } from "./random.ts";
import { runRandom } from "./run.ts";
import { findScenario } from "./scenarios.ts";
import { search } from "./search.ts";

export async function runJob(job: Job): Promise<JobResult> {
	const { kind } = job;
	const scenario = findScenario(job.scenario);
	if (job.kind === "search") {
		const { runs, states, isComplete, failure } = await search(scenario, job);
		const { choices = [], violation } = failure ?? {};
		const found = violation && { replay: choices.join(".") || "0", violation, schedule: runs };
		const result = {
			kind,
			scenario: scenario.name,
			schedules: runs,
			steps: 0,
			evictions: 0,
			pods: 0,
			states,
			isComplete,
		};
		return { ...result, ...(found && { failure: found }) };
	}
	let steps = 0;
	let evictions = 0;
	let pods = 0;
	for (let index = 0; index < job.count; index += 1) {
		const seed = scheduleSeed(job.seed, scenario.name, job.from + index);
		const run = await runRandom(scenario, seed);
		steps += run.steps;
		evictions += run.evictions;
		pods += run.pods;
		const result = {
			kind,
			scenario: scenario.name,
			schedules: index + 1,
			steps,
			evictions,
			pods,
			states: 0,
			isComplete: false,
		};
		if (run.violation)
			return { ...result, failure: { replay: String(seed), violation: run.violation, schedule: job.from + index + 1 } };
		if (index + 1 === job.count) return result;
	}
	throw new Error("a job without schedules");
}
