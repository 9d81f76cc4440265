// `npm run soak` tests on real clusters that the budgets hold over time, whatever fails. Exit code 1 means a violation, a leak or another
// failure. 3 means that real clusters cannot run here.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { SetupError } from "../../demo/machine/setup-error.ts";
import { startFleet } from "../controlplane/fleet.ts";
import { ProgramsUnavailableError } from "../controlplane/fleet-errors.ts";
import { runSoak } from "./soak.ts";
import { finalReport, minuteLine } from "./soak-report.ts";

const flags = await yargs(process.argv.slice(2))
	.scriptName("npm run soak --")
	.usage("$0 [flags]")
	.option("minutes", { type: "number", default: 10, describe: "How long" })
	.option("seed", { type: "number", default: 1, describe: "Other seeds, other faults" })
	.option("faults", { type: "boolean", default: true, describe: "Print each fault" })
	.example("$0 --minutes 60 --seed 7", "an hour")
	.check(({ minutes, seed }) => {
		if (!(minutes > 0)) throw new Error("--minutes must be more than 0");
		if (!Number.isInteger(seed)) throw new Error("--seed must be a whole number");
		return true;
	})
	.strict()
	.version(false)
	.parseAsync();

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
	process.on(signal, () => {
		if (stop.signal.aborted) process.exit(130);
		console.log("Stopping: what runs is ended and judged; once more leaves at once");
		stop.abort();
	});
}

async function main(): Promise<boolean> {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-soak-"));
	const log = (line: string) => console.log(line);
	const fleet = await startFleet({ clusters: 3, nodes: 3, dir, links: true, log, signal: stop.signal });
	let held = false;
	try {
		log(`Soaking for ${flags.minutes} min with seed ${flags.seed}; logs in ${dir}`);
		const result = await runSoak({
			fleet,
			minutes: flags.minutes,
			seed: flags.seed,
			signal: stop.signal,
			log: (line) => flags.faults && log(line),
			onMinute: (state) => log(minuteLine(state)),
		});
		const report = finalReport(result);
		held = report.held;
		for (const line of report.lines) log(line);
		return held;
	} finally {
		await fleet.stop();
		if (held) rmSync(dir, { recursive: true, force: true });
		else log(`The logs and audit logs are in ${dir}`);
	}
}

try {
	process.exit((await main()) ? 0 : 1);
} catch (error) {
	if (!(error instanceof SetupError)) throw error;
	console.error(`error: ${error.message}${error.hint === undefined ? "" : `\n${error.hint}`}`);
	process.exit(error instanceof ProgramsUnavailableError ? 3 : 1);
}
