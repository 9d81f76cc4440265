// `npm test`, under the pinned Node that test.cjs has seen to: checks, builds and suites, one after the other, each with its
// output on the screen. A step that fails does not keep the next from running; the last line has the sum of all. What needs
// longer than somebody waits for a test runs with --all, as continuous integration has it, and is named where it does not.
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { formatDuration, runCommand } from "./run-command.ts";
import {
	failedTests,
	formatTally,
	oneFailed,
	onePassed,
	oneSkipped,
	readVitestReport,
	skippedTests,
	sum,
	type Tally,
} from "./tally.ts";

interface Step {
	readonly name: string;
	/** Begins with the script that Node runs; a script that is not there is a failure like any other. */
	readonly command: readonly [string, ...string[]];
	/** What the run amounted to; left out, a step counts as one, and exit code 3 means that it was skipped. */
	readonly tally?: (exitCode: number) => Tally;
}

const { all, installMs } = readArguments();
const faults = { name: "faults on real clusters", files: "test/e2e/faults/**" };
const hostile = { name: "hostile parties on real clusters", files: "test/e2e/hostile/**" };
/** Compares what two programs print that look at clocks: only alone it has the machine that they expect. */
const parity = { name: "side by side with kubectl", files: "test/e2e/parity/**" };

/** On fleets in which c1 and c3 are of the oldest Kubernetes: what rests on the answers of API servers, and what people do most. */
const oldest = {
	name: "the oldest Kubernetes",
	files: [
		"kubernetes/real-server",
		"e2e/hostile/policies",
		"e2e/evict",
		"e2e/drain",
		"e2e/suspend",
		"e2e/budgets",
		"e2e/check/installation",
	].map((file) => `test/${file}.e2e.test.ts`),
};

const reports = await mkdtemp(join(tmpdir(), "xpdb-test-"));
const checkReport = join(reports, "check.json");
const unitReport = join(reports, "unit.json");
const e2eReport = join(reports, "e2e.json");
const oldestReport = join(reports, "oldest.json");
const parityReport = join(reports, "parity.json");

const controlPlane: Step = { name: "control plane", command: ["test/controlplane/prepare.ts"] };
const steps: readonly Step[] = [
	{
		name: "check",
		command: ["scripts/check.ts", `--report=${checkReport}`, `--unit-report=${unitReport}`],
		tally: () => (existsSync(checkReport) ? (JSON.parse(readFileSync(checkReport, "utf8")) as Tally) : oneFailed),
	},
	controlPlane,
	{ name: "build", command: ["scripts/build.ts", "--test"] },
	{ name: "exploration", command: ["test/explore/main.ts", "--mutants"] },
	{ name: "fuzzing", command: ["test/fuzz/main.ts", "--inputs=60000"] },
	onRealClusters("real clusters", "e2e", e2eReport, [
		"--maxWorkers=2",
		`--exclude=${parity.files}`,
		...(all ? [] : [faults, hostile].map(({ files }) => `--exclude=${files}`)),
	]),
];
const packages = join(reports, "packages");
const onTheOldest = onRealClusters(oldest.name, "oldest", oldestReport, ["--maxWorkers=2", ...oldest.files]);
const longSteps: readonly Step[] = [
	{
		name: "packages",
		command: ["scripts/package/main.ts", `--output=${packages}`, "--url=https://example.com/releases"],
	},
	{ name: "packages in krew", command: ["test/krew/validate-packages.ts", `--packages=${packages}`] },
	// That for this processor is made and run on real clusters.
	{ name: "image for arm64", command: ["scripts/image/main.ts", "--only=arm64", `--output=${join(reports, "image")}`] },
	onTheOldest,
	onRealClusters(parity.name, "e2e", parityReport, [dirname(parity.files)]),
	{ name: "benchmark", command: ["test/bench/main.ts", "--short"] },
	{ name: "soak", command: ["test/soak/main.ts", "--minutes=2"] },
];
const leftOut = all ? [] : [faults, hostile, ...longSteps].map(({ name }) => `${name} (npm test -- --all has it)`);

function onRealClusters(
	name: string,
	project: "e2e" | "oldest",
	reportPath: string,
	selection: readonly string[],
): Step {
	return {
		name,
		command: [
			"node_modules/vitest/vitest.mjs",
			"run",
			`--project=${project}`,
			...selection,
			"--reporter=default",
			"--reporter=json",
			`--outputFile.json=${reportPath}`,
		],
		tally: (exitCode) => readVitestReport(reportPath, exitCode),
	};
}

function readArguments(): { readonly all: boolean; readonly installMs: number } {
	try {
		const { values } = parseArgs({
			options: { all: { type: "boolean", default: false }, "install-ms": { type: "string", default: "0" } },
		});
		return { all: values.all, installMs: Number(values["install-ms"]) };
	} catch (error) {
		console.error(`error: ${error instanceof Error ? error.message : String(error)}; it knows --all alone`);
		console.log(formatTally(oneFailed));
		process.exit(1);
	}
}

// Ctrl-C reaches the running step as well, which may have clusters to end: wait for it, then stop.
let isInterrupted = false;
const termination = new AbortController();
process.on("SIGINT", () => {
	isInterrupted = true;
});
process.on("SIGTERM", () => {
	isInterrupted = true;
	termination.abort();
});

async function runStep(step: Step): Promise<Tally> {
	console.log(`\n--- ${step.name}`);
	const { code, elapsedMs } = await runCommand([process.execPath, ...step.command], {
		show: true,
		signal: termination.signal,
	});
	const tally = step.tally?.(code) ?? (code === 0 ? onePassed : code === 3 ? oneSkipped : oneFailed);
	report(step.name, tally, elapsedMs);
	return tally;
}

function buildOldest(): Promise<unknown> {
	const command = [process.execPath, "test/controlplane/prepare.ts", "--oldest"] as const;
	return runCommand(command, { signal: termination.signal });
}

const nameWidth = parity.name.length + 2;
const lines: string[] = [];

function report(name: string, tally: Tally, elapsedMs: number): void {
	const line = `${name.padEnd(nameWidth)}${formatTally(tally)} (${formatDuration(elapsedMs)})`;
	lines.push(line);
	console.log(line);
}

try {
	const startedAt = performance.now();
	report("install", onePassed, installMs);
	const tallies = [onePassed, ...leftOut.map(() => oneSkipped)];
	// Minutes in a fresh clone, and at the lowest priority: beside the steps that need none of it.
	let oldestIsBuilt: Promise<unknown> | undefined;
	for (const step of all ? [...steps, ...longSteps] : steps) {
		if (step === onTheOldest) await oldestIsBuilt;
		if (isInterrupted) lines.push(`${step.name.padEnd(nameWidth)}not run: interrupted`);
		tallies.push(isInterrupted ? oneFailed : await runStep(step));
		if (all && step === controlPlane && !isInterrupted) oldestIsBuilt = buildOldest();
	}
	const total = sum(tallies);
	const vitestReports = [unitReport, e2eReport, oldestReport, parityReport];
	const failed = vitestReports.flatMap(failedTests).map((test) => `failed: ${test}`);
	const skipped = [...vitestReports.flatMap(skippedTests), ...leftOut].map((test) => `skipped: ${test}`);
	console.log(["", ...failed, ...skipped, "", ...lines].join("\n"));
	console.log(`all in ${formatDuration(installMs + performance.now() - startedAt)}\n\n${formatTally(total)}`);
	process.exitCode = total.failed > 0 ? 1 : 0;
} finally {
	await rm(reports, { recursive: true, force: true });
}
