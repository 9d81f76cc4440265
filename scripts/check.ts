// `npm run check`: everything that needs no cluster, for before each commit. One line a part, and in full what failed.
// With --report=FILE the counts go there too, for test.ts to add up, and with --unit-report=FILE what vitest says of each unit test.
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatDuration, runCommand } from "./run-command.ts";
import { formatTally, oneFailed, onePassed, oneSkipped, readVitestReport, sum, type Tally } from "./tally.ts";

interface Part {
	readonly name: string;
	readonly command: readonly [string, ...string[]];
	/** Where vitest leaves its report. */
	readonly report?: string;
}

// Two at a time: most machines that run this have two cores or more, and each part is busy on its own.
const parallel = 2;

async function runPart({ name, command, report }: Part): Promise<Tally> {
	const { code, output, elapsedMs } = await runCommand(command);
	const tally = report ? readVitestReport(report, code) : code === 0 ? onePassed : code === 3 ? oneSkipped : oneFailed;
	const mark = tally.failed > 0 ? "FAILED" : code === 3 ? "skipped" : "ok";
	const note = report ? `: ${formatTally(tally)}` : code === 3 ? `: ${output.trim()}` : "";
	console.log(`${mark.padEnd(8)}${name} (${formatDuration(elapsedMs)})${note}`);
	if (tally.failed > 0) console.error(output.trimEnd());
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

const { values: files } = parseArgs({ options: { report: { type: "string" }, "unit-report": { type: "string" } } });
const startedAt = performance.now();
const folder = await mkdtemp(join(tmpdir(), "xpdb-check-"));
const unitReport = files["unit-report"] ?? join(folder, "unit.json");
try {
	const tally = await runAll([
		{
			name: "unit tests, import rules among them",
			command: [
				"vitest",
				"run",
				"--project",
				"unit",
				"--reporter=default",
				"--reporter=json",
				`--outputFile.json=${unitReport}`,
			],
			report: unitReport,
		},
		{ name: "types", command: ["tsc", "--noEmit"] },
		{ name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
		{ name: "format", command: ["biome", "format"] },
		{ name: "generated code and contract", command: ["node", "scripts/generate.ts", "--check"] },
		{ name: "contract against main", command: ["node", "scripts/breaking.ts"] },
	]);
	console.log(`check: ${formatTally(tally)} (${formatDuration(performance.now() - startedAt)})`);
	if (files.report) writeFileSync(files.report, JSON.stringify(tally));
	process.exitCode = tally.failed > 0 ? 1 : 0;
} finally {
	await rm(folder, { recursive: true, force: true });
}
