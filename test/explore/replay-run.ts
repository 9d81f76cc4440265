import { formatHistory } from "./history.ts";
import type { Violation } from "./oracle.ts";
import { runRandom, runSearched } from "./run.ts";
import { findScenario } from "./scenarios.ts";

export async function runRecorded(
	scenarioName: string,
	choices: string,
): Promise<{ readonly table: string; readonly violation: Violation | undefined; readonly steps: number }> {
	const scenario = findScenario(scenarioName);
	const run = choices.includes(".")
		? await runSearched(scenario, choices.split(".").map(Number), { isNew: () => true, mostSteps: 400, record: true })
		: await runRandom(scenario, Number(choices), { record: true, settles: true });
	return { table: formatHistory(run.history), violation: run.violation, steps: run.steps };
}
