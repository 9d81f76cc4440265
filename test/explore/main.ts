// `npm run explore`: runs schedules of the shipped code on simulated clusters, random ones by seed or all of a small scenario. The same
// scenarios must catch the mutants.
import { enableCompileCache } from "node:module";
import yargs from "yargs";

// Without the cache, every run would strip the types from the same files again.
enableCompileCache();

const flags = await yargs(process.argv.slice(2))
	.scriptName("npm run explore --")
	.usage("$0 [flags]")
	.option("schedules", {
		type: "number",
		describe: "At most so many random schedules, over all scenarios together: 10,000",
	})
	.option("long", {
		type: "boolean",
		default: false,
		describe: "A million schedules, resumed where the last run stopped",
	})
	.option("seed", { type: "number", default: 1, describe: "Other seeds, other schedules" })
	.option("scenario", { type: "string", describe: "Only this one" })
	.option("mutants", { type: "boolean", default: false, describe: "Whether every mutant is caught, too" })
	.option("tries", { type: "number", default: 3, describe: "With --mutants: seeds with which each has to be caught" })
	.option("exhaustive", { type: "boolean", default: false, describe: "All schedules of the small scenarios, too" })
	.option("only", { type: "string", describe: "With --mutants: only those with this in their name" })
	.option("states", { type: "number", default: 20_000, describe: "Where an exhaustive search of one scenario is cut" })
	.option("mutant", { type: "string", describe: "Replay against this mutant" })
	.option("shrink", { type: "string", describe: "A failing schedule made short: a seed" })
	.option("replay", { type: "string", describe: "A failing schedule again, with its history: a seed, or choices" })
	.example("$0 --schedules 100000 --seed 7", "other schedules, and more of them")
	.example("$0 --long", "due after each change of the protocol; Ctrl-C saves what was counted")
	.check(({ schedules, seed }) => {
		if (schedules !== undefined && (!Number.isInteger(schedules) || schedules < 0))
			throw new Error("--schedules must be a whole number from 0");
		if (!Number.isInteger(seed)) throw new Error("--seed must be a whole number");
		return true;
	})
	.strict()
	.parseAsync();

function seedsFrom(first: number, count: number): readonly number[] {
	return Array.from({ length: count }, (_, index) => first + index);
}

const defaultSchedules = 10_000;

async function main(): Promise<boolean> {
	// Replays come first: their mutant must be in place before the code under test is loaded, and the imports below load that code.
	const { printShrunk, replay } = await import("./replay.ts");
	if (flags.replay !== undefined) {
		if (flags.scenario === undefined) throw new Error("--replay needs --scenario");
		return replay(flags.scenario, flags.replay, flags.mutant);
	}
	if (flags.shrink !== undefined) {
		if (flags.scenario === undefined) throw new Error("--shrink needs --scenario");
		return printShrunk(flags.scenario, flags.shrink, flags.mutant);
	}
	const [{ exploreMutants }, { exploreRandomly, exploreSearches }, { exploreLong }, { findScenario, scenarios }] =
		await Promise.all([
			import("./explore-mutants.ts"),
			import("./explore-scenarios.ts"),
			import("./long-run.ts"),
			import("./scenarios.ts"),
		]);
	const chosen = flags.scenario === undefined ? scenarios : [findScenario(flags.scenario)];
	const held: boolean[] = [];
	const { seed, schedules = defaultSchedules } = flags;
	if (flags.long) held.push(await exploreLong(chosen, { schedules: flags.schedules, seed }));
	else if (schedules > 0) held.push(await exploreRandomly(chosen, { schedules, seed }));
	if (flags.exhaustive) held.push(await exploreSearches(chosen, { mostStates: flags.states }));
	if (flags.mutants) held.push(await exploreMutants({ seeds: seedsFrom(seed, flags.tries), only: flags.only ?? "" }));
	return held.every(Boolean);
}

try {
	process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
	console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
	process.exitCode = 1;
}
