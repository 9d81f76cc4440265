// `npm run bench`: measures xpdb on real clusters and never asserts. Exit code 1: an error, no result, or with --once a failed measurement.
// Exit code 3: the clusters' programs are not available here.
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { messageOf, SetupError } from "../../demo/machine/setup-error.ts";
import { ProgramsUnavailableError } from "../controlplane/fleet-errors.ts";
import { choose } from "./plan.ts";
import { formatTable } from "./report.ts";
import { runMeasurements } from "./run-measurements.ts";

const stop = new AbortController();

async function main(): Promise<void> {
	const flags = await yargs(hideBin(process.argv))
		.scriptName("npm run bench --")
		.usage(
			"$0 [flags]\n\nMeasures the shipped programs on real clusters, beside kubectl drain and bare eviction calls.",
		)
		.option("only", { type: "string", array: true, default: [], describe: "A ratio or a measurement; may be repeated" })
		.option("short", { type: "boolean", default: false, describe: "Fewer runs, in about three minutes" })
		.option("once", {
			type: "boolean",
			default: false,
			describe: "Whether each measurement of a short run works, once and with few pods: its figures say nothing",
		})
		.option("json", { type: "string", describe: "Writes all figures to this file" })
		.option("plugin", {
			type: "string",
			describe: "Measures this file in the place of dist/kubectl-xpdb.js: dist/kubectl-xpdb, as it is shipped",
		})
		.option("cpu-prof", { type: "string", describe: "Leaves CPU profiles of the agents in this folder" })
		.strict()
		.version(false)
		.parse();
	const chosen = choose(flags.only);
	const startedAt = performance.now();
	const { outcomes, details, failed } = await runMeasurements(chosen, {
		short: flags.short || flags.once,
		isSmall: flags.once,
		profiles: flags["cpu-prof"],
		plugin: flags.plugin,
		signal: stop.signal,
		log: (line) => console.log(line),
	});
	const seconds = (performance.now() - startedAt) / 1_000;
	console.log(`\n${formatTable(outcomes)}\n\nall in ${seconds.toFixed(0)} s`);
	if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(asJson(), undefined, "\t")}\n`);
	process.exitCode = failed ? 1 : 0;

	function asJson(): object {
		const measured = outcomes.filter((outcome) => outcome.kind === "measured");
		return {
			ratios: Object.fromEntries(measured.map(({ ratio, spread }) => [ratio.name, spread.median])),
			ranges: Object.fromEntries(measured.map(({ ratio, spread }) => [ratio.name, [spread.low, spread.high]])),
			goals: Object.fromEntries(
				outcomes.flatMap(({ ratio: { name, goal } }) =>
					goal ? [[name, `${goal.better === "lower" ? "<=" : ">="} ${goal.value}`]] : [],
				),
			),
			missing: Object.fromEntries(
				outcomes.flatMap((outcome) => (outcome.kind === "missing" ? [[outcome.ratio.name, outcome.reason]] : [])),
			),
			details,
			seconds,
			short: flags.short,
			machine: { cpus: cpus().length, model: cpus()[0]?.model, memoryBytes: totalmem(), node: process.version },
		};
	}
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
	process.on(signal, () => {
		// The clusters' programs die with this process.
		if (stop.signal.aborted) process.exit(130);
		stop.abort(new SetupError("Stopped"));
	});
}

try {
	await main();
} catch (error) {
	const known =
		error instanceof SetupError || (error instanceof Error && error.message.startsWith("Nothing is called"));
	console.error(known ? `error: ${messageOf(error)}` : error);
	if (error instanceof SetupError && error.hint) console.error(error.hint);
	process.exitCode = error instanceof ProgramsUnavailableError ? 3 : 1;
}
process.exit();
