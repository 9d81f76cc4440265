// One schedule again, with its history as a table.
import { loadMutant } from "./mutant.ts";
import { findMutant } from "./mutants.ts";

/** `choices` is a seed, or choices joined by dots. True where the schedule finds nothing. */
export async function replay(scenarioName: string, choices: string, mutant: string | undefined): Promise<boolean> {
	if (!/^\d+(\.\d+)*$/.test(choices)) throw new Error(`--replay takes a seed or choices, is "${choices}"`);
	if (mutant !== undefined) loadMutant(findMutant(mutant));
	// Only now: the mutant has to be in place before the code under test is loaded.
	const { runRecorded } = await import("./replay-run.ts");
	const { table, violation, steps } = await runRecorded(scenarioName, choices);
	console.log(table);
	console.log(violation ? `\nFOUND ${violation.rule}: ${violation.message}` : `\nNothing found in ${steps} steps`);
	return violation === undefined;
}
