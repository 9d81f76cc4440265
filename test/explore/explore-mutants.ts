// Checks that each mutant is caught by one of its scenarios within a bounded number of schedules. A harmless mutant must not be caught: a
// catch proves its reason wrong.
import type { Job, JobFailure } from "./job.ts";
import type { Mutant } from "./mutant.ts";
import { mutants } from "./mutants.ts";
import { createProgressLine } from "./progress-line.ts";
import { findScenario } from "./scenarios.ts";
import { runJobs, threads } from "./worker-pool.ts";

/** The most schedules of one scenario. The rarest known catch takes 300. */
const mostSchedules = 3_000;
const firstSchedules = 100;
const mostSearchedStates = 1_500;
/** Schedules of each scenario for a harmless mutant, for each seed. A run with one seed is for the other mutants, so it has fewer. */
const harmlessSchedules = { ofSeveral: 60, ofOne: 15 };

/** Resolves to true if each mutant behaved as it should with every seed. */
export async function exploreMutants({
	seeds,
	only,
}: {
	readonly seeds: readonly number[];
	/** Chooses mutants by a part of their name. */
	readonly only: string;
}): Promise<boolean> {
	const chosen = mutants.filter(({ name }) => name.includes(only));
	if (chosen.length === 0) throw new Error(`There is no mutant with "${only}" in its name`);
	const queue = [...chosen];
	const progress = createProgressLine();
	const width = Math.max(...chosen.map(({ name }) => name.length));
	let wrong = 0;
	let done = 0;
	const work = async (): Promise<void> => {
		for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
			const startedAt = performance.now();
			const verdicts: string[] = [];
			let isRight = true;
			for (const seed of seeds) {
				const harmless = seeds.length > 1 ? harmlessSchedules.ofSeveral : harmlessSchedules.ofOne;
				const caught = await firstCatch(mutant, seed, harmless);
				if ((caught !== undefined) !== (mutant.harmless === undefined)) isRight = false;
				verdicts.push(verdictOf(mutant, caught));
			}
			if (!isRight) wrong += 1;
			done += 1;
			progress.clear();
			const seconds = `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`.padStart(7);
			const text = [...new Set(verdicts)].join("; ");
			console.log(`${(isRight ? "ok" : "WRONG").padEnd(6)}${mutant.name.padEnd(width)} ${seconds}  ${text}`);
			progress.show(`${done} of ${chosen.length} mutants`);
		}
	};
	await Promise.all(Array.from({ length: threads }, work));
	progress.clear();
	console.log(`${chosen.length} mutants: ${chosen.length - wrong} as they should be, ${wrong} not`);
	return wrong === 0;
}

interface Catch extends JobFailure {
	readonly scenario: string;
}

/** `harmless` is the number of schedules of each scenario for a harmless mutant. */
async function firstCatch(mutant: Mutant, seed: number, harmless: number): Promise<Catch | undefined> {
	const random = (from: number, to: number): readonly Job[] =>
		mutant.scenarios.map((scenario) => ({ kind: "random", scenario, seed, from, count: to - from, settles: true }));
	const searches = mutant.scenarios
		.filter((scenario) => findScenario(scenario).search !== undefined)
		.map((scenario): Job => ({ kind: "search", scenario, mostStates: mostSearchedStates, mostSteps: 400 }));
	// The first few schedules catch most mutants, and a search that finds anything finds it fast.
	const jobs =
		mutant.harmless === undefined
			? [...random(0, firstSchedules), ...searches, ...random(firstSchedules, mostSchedules)]
			: random(0, harmless);
	let caught: Catch | undefined;
	await runJobs(jobs, {
		mutant: mutant.name,
		threads: 1,
		onResult({ failure, scenario }) {
			if (failure) caught = { ...failure, scenario };
		},
		isEnough: ({ failure }) => failure !== undefined,
	});
	return caught;
}

function verdictOf(mutant: Mutant, caught: Catch | undefined): string {
	if (!caught)
		return mutant.harmless === undefined ? `SURVIVED: ${mutant.without}` : `makes no difference: ${mutant.harmless}`;
	const { scenario, schedule, violation, replay } = caught;
	const where = `${violation.rule} in schedule ${schedule} of ${scenario}`;
	return mutant.harmless === undefined
		? `caught: ${where}`
		: `caught after all: ${where}; npm run explore -- --scenario ${scenario} --mutant ${mutant.name} --replay ${replay}`;
}
