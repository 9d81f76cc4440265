// Runs one schedule again, as it was or made short, and prints its history as a table.
import { drivenSources } from "./driven-sources.ts";
import { loadDriven } from "./load-driven.ts";

/** `choices` is a seed, or choices joined by dots. Resolves to true if the schedule finds nothing. */
export async function replay(scenarioName: string, choices: string, mutant: string | undefined): Promise<boolean> {
	if (!/^\d+(\.\d+)*$/.test(choices)) throw new Error(`--replay takes a seed or choices, is "${choices}"`);
	loadDriven(drivenSources(mutant));
	// The mutant must be in place before the code under test is loaded.
	const { runRecorded } = await import("./replay-run.ts");
	const { table, violation, steps } = await runRecorded(scenarioName, choices);
	console.log(table);
	console.log(violation ? `\nFOUND ${violation.rule}: ${violation.message}` : `\nNothing found in ${steps} steps`);
	return violation === undefined;
}

/** Prints a failing schedule made short. Always resolves to false, because the schedule fails or cannot be shortened. */
export async function printShrunk(scenarioName: string, seed: string, mutant: string | undefined): Promise<boolean> {
	if (!/^\d+$/.test(seed)) throw new Error(`--shrink takes a seed, is "${seed}"`);
	loadDriven(drivenSources(mutant));
	// Thousands of errors are ordinary answers here, and their stack traces would take time.
	Error.stackTraceLimit = 0;
	const [{ shrink }, { findScenario }] = await Promise.all([import("./shrink.ts"), import("./scenarios.ts")]);
	const { steps, kept, runs, table, message } = await shrink(findScenario(scenarioName), Number(seed));
	console.log(table);
	if (message === undefined) {
		console.log(`\nThe names of its ${steps} steps alone do not lead there again: see --replay ${seed}`);
		return false;
	}
	console.log(`\n${steps} steps became ${kept.length} out of the usual order, in ${runs} runs:`);
	for (const label of kept) console.log(`  ${label}`);
	console.log(`FOUND ${message}`);
	return false;
}
