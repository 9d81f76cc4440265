// `npm run explore`: schedules of the real round code on simulated clusters, by seed or all of a small one, and the mutants
// that the same schedules have to catch.
import { enableCompileCache } from "node:module";
import yargs from "yargs";

// Every run would take the types out of the same files again.
enableCompileCache();
const [{ exploreMutants }, { exploreRandomly, exploreSearches }, { replay }, { findScenario, scenarios }] =
	await Promise.all([
		import("./explore-mutants.ts"),
		import("./explore-scenarios.ts"),
		import("./replay.ts"),
		import("./scenarios.ts"),
	]);

const flags = await yargs(process.argv.slice(2))
	.scriptName("npm run explore --")
	.usage("$0 [flags]")
	.option("schedules", { type: "number", default: 10_000, describe: "Random schedules, over all scenarios together" })
	.option("seed", { type: "number", default: 1, describe: "Other seeds, other schedules" })
	.option("scenario", { type: "string", describe: "Only this one" })
	.option("mutants", { type: "boolean", default: false, describe: "Whether every mutant is caught, too" })
	.option("exhaustive", { type: "boolean", default: false, describe: "All schedules of the small scenarios, too" })
	.option("only", { type: "string", describe: "With --mutants: only those with this in their name" })
	.option("states", { type: "number", default: 20_000, describe: "Where an exhaustive search of one scenario is cut" })
	.option("mutant", { type: "string", describe: "Replay against this mutant" })
	.option("replay", { type: "string", describe: "A failing schedule again, with its history: a seed, or choices" })
	.example("$0 --schedules 100000 --seed 7", "a long run")
	.check(({ schedules, seed }) => {
		if (!Number.isInteger(schedules) || schedules < 0) throw new Error("--schedules must be a whole number from 0");
		if (!Number.isInteger(seed)) throw new Error("--seed must be a whole number");
		return true;
	})
	.strict()
	.parseAsync();

async function main(): Promise<boolean> {
	const chosen = flags.scenario === undefined ? scenarios : [findScenario(flags.scenario)];
	if (flags.replay !== undefined) {
		if (flags.scenario === undefined) throw new Error("--replay needs --scenario");
		return replay(flags.scenario, flags.replay, flags.mutant);
	}
	const held: boolean[] = [];
	if (flags.schedules > 0) held.push(await exploreRandomly(chosen, { schedules: flags.schedules, seed: flags.seed }));
	if (flags.exhaustive) held.push(await exploreSearches(chosen, { mostStates: flags.states }));
	if (flags.mutants) held.push(await exploreMutants({ seed: flags.seed, only: flags.only ?? "" }));
	return held.every(Boolean);
}

try {
	process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
	console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
	process.exitCode = 1;
}
