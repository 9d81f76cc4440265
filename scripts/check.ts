// `npm run check`: all checks that need no cluster. It prints one line for each part, and the full output of a failed part. If
// XPDB_SUITE_REPORT is set, it writes a SuiteReport to that path.
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatDuration, runCommand } from "./run-command.ts";
import { readSuiteReport, type SuiteReport, tallyOfReport, type TestRecord } from "./suites/suite-report.ts";
import { formatTally, sum, type Tally, tallyOfExit } from "./suites/tally.ts";

interface Part {
	readonly name: string;
	readonly command: readonly [string, ...string[]];
	/** Path of the SuiteReport that the part writes. */
	readonly report?: string;
}

// Most machines that run this have at least two cores, and each part keeps one busy.
const parallel = 2;
const records: TestRecord[] = [];

async function runPart({ name, command, report }: Part): Promise<Tally> {
	const environment = report === undefined ? {} : { XPDB_SUITE_REPORT: report };
	const { code, output, elapsedMs } = await runCommand(command, { environment });
	const tally = report ? tallyOfReport(readSuiteReport(report), code) : tallyOfExit(code);
	const mark = tally.failed > 0 ? "FAILED" : code === 3 ? "skipped" : "ok";
	const note = report ? `: ${formatTally(tally)}` : code === 3 ? `: ${output.trim()}` : "";
	console.log(`${mark.padEnd(8)}${name} (${formatDuration(elapsedMs)})${note}`);
	if (tally.failed > 0) console.error(output.trimEnd());
	if (!report) {
		const state = tally.failed > 0 ? "failed" : tally.skipped > 0 ? "skipped" : "passed";
		records.push({ name, state, ms: Math.round(elapsedMs), errors: state === "failed" ? [output.trim()] : [] });
	}
	return tally;
}

async function runAll(parts: readonly Part[]): Promise<Tally> {
	const queue = [...parts];
	const tallies: Tally[] = [];
	const worker = async () => {
		for (let part = queue.shift(); part; part = queue.shift()) tallies.push(await runPart(part));
	};
	await Promise.all(Array.from({ length: parallel }, worker));
	return sum(tallies);
}

const reportPath = process.env["XPDB_SUITE_REPORT"];
const startedAt = performance.now();
const folder = await mkdtemp(join(tmpdir(), "xpdb-check-"));
const unitReport = join(folder, "unit.json");
try {
	const tally = await runAll([
		{
			name: "unit tests, import rules among them",
			command: ["vitest", "run", "--project", "unit"],
			report: unitReport,
		},
		{ name: "types", command: ["tsc", "--noEmit"] },
		{ name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
		{ name: "format", command: ["biome", "format"] },
		{ name: "generated code and contract", command: ["node", "scripts/generate.ts", "--check"] },
		{ name: "contract against main", command: ["node", "scripts/breaking.ts"] },
	]);
	console.log(`check: ${formatTally(tally)} (${formatDuration(performance.now() - startedAt)})`);
	if (reportPath !== undefined) {
		const { files, ...unit } = readSuiteReport(unitReport);
		const parts = { path: "scripts/check.ts", ms: 0, setUpMs: 0, errors: [], tests: records };
		const report: SuiteReport = { ...unit, files: [...files, parts] };
		writeFileSync(reportPath, JSON.stringify(report));
	}
	process.exitCode = tally.failed > 0 ? 1 : 0;
} finally {
	await rm(folder, { recursive: true, force: true });
}
