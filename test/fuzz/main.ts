// `npm run fuzz` tries many foreign inputs on everything that reads such inputs.
import yargs from "yargs";
import { checkFuzzMutants } from "./check-mutants.ts";
import { fuzzInputs, report } from "./fuzz-inputs.ts";
import { runFuzzJobs } from "./fuzz-pool.ts";
import { findTarget, targets } from "./targets.ts";

const flags = await yargs(process.argv.slice(2))
	.scriptName("npm run fuzz --")
	.usage("$0 [flags]")
	.option("inputs", { type: "number", default: 100_000, describe: "Inputs, over all targets together" })
	.option("seed", { type: "number", default: 1, describe: "Other seeds, other inputs" })
	.option("only", { type: "string", describe: `Only this target: ${targets.map(({ name }) => name).join(", ")}` })
	.option("replay", { type: "string", describe: "One input again, as a failure names it; needs --only" })
	.option("mutants", {
		type: "boolean",
		default: false,
		describe: "Whether each target notices a validation taken out",
	})
	.example("$0 --inputs 2000000 --seed 7", "a long run")
	.check(({ inputs, seed, replay, only }) => {
		if (!Number.isInteger(inputs) || inputs < 0) throw new Error("--inputs must be a whole number from 0");
		if (!Number.isInteger(seed)) throw new Error("--seed must be a whole number");
		if (replay !== undefined && only === undefined) throw new Error("--replay needs --only");
		if (replay !== undefined && !/^\d+\/\d+(:\d+)*$/.test(replay)) throw new Error("--replay takes PART/PATH");
		return true;
	})
	.strict()
	.parseAsync();

async function main(): Promise<boolean> {
	const { inputs, seed, only, replay } = flags;
	const chosen = only === undefined ? targets : [findTarget(only)];
	if (only !== undefined && replay !== undefined) return again(only, replay);
	const held = [await fuzzInputs(chosen, { inputs, seed })];
	if (flags.mutants) held.push(await checkFuzzMutants({ seed, only }));
	return held.every(Boolean);
}

async function again(target: string, replay: string): Promise<boolean> {
	const [part, path = "0"] = replay.split("/");
	let held = true;
	await runFuzzJobs([{ target, seed: flags.seed, part: Number(part), inputs: 1, path }], {
		mutant: undefined,
		threads: 1,
		onResult(result) {
			held = result.failure === undefined;
			report(result, flags.seed);
		},
		isEnough: () => true,
	});
	if (held) console.log("Nothing found");
	return held;
}

try {
	process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
	console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
	process.exitCode = 1;
}
