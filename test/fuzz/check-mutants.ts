// Checks that every mutant is noticed by its target. Otherwise, the target checks the wrong things.
import { createProgressLine } from "../explore/progress-line.ts";
import type { FuzzResult } from "./fuzz-job.ts";
import { fuzzMutants } from "./fuzz-mutants.ts";
import { runFuzzJobs, threads } from "./fuzz-pool.ts";
import { findTarget } from "./targets.ts";

/** The most inputs for each mutant, at a share of 1. */
const mostInputs = 60_000;
const inputsPerJob = 1_500;

/** Returns whether every mutant was noticed. */
export async function checkFuzzMutants(options: {
	readonly seed: number;
	readonly only: string | undefined;
}): Promise<boolean> {
	const chosen = fuzzMutants.filter(({ target }) => options.only === undefined || target === options.only);
	const queue = [...chosen];
	const progress = createProgressLine();
	const width = Math.max(...chosen.map(({ name }) => name.length));
	let missed = 0;
	const work = async (): Promise<void> => {
		for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
			const { name, target, without } = mutant;
			const { share } = findTarget(target);
			let tried = 0;
			let caught: FuzzResult | undefined;
			const parts = mostInputs / inputsPerJob;
			const inputs = Math.max(20, Math.round(inputsPerJob * share));
			await runFuzzJobs(
				Array.from({ length: parts }, (_, part) => ({ target, seed: options.seed, part, inputs })),
				{
					mutant: name,
					threads: 1,
					onResult(result) {
						if (!caught) tried += result.inputs;
						if (result.failure) caught ??= result;
					},
					isEnough: ({ failure }) => failure !== undefined,
				},
			);
			if (!caught) missed += 1;
			progress.clear();
			const verdict = caught
				? `noticed by ${target} within ${tried} inputs: ${caught.failure?.message.split("\n")[0]?.slice(0, 120)}`
				: `NOT NOTICED by ${target}: ${without}`;
			console.log(`${(caught ? "ok" : "WRONG").padEnd(6)}${name.padEnd(width)}  ${verdict}`);
			progress.show(`${chosen.length - queue.length} of ${chosen.length} mutants`);
		}
	};
	await Promise.all(Array.from({ length: threads }, work));
	progress.clear();
	console.log(`${chosen.length} mutants: ${chosen.length - missed} noticed, ${missed} not`);
	return missed === 0;
}
