// `npm test`, under the pinned Node: runs the suites of the requested size. Suites with timeouts run in one lane, and suites that only
// compute in another at low priority. A failed suite does not stop the next one.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { preferThisSession } from "./session-priority.ts";
import { type Choice, chooseSuites } from "./suites/choose-suites.ts";
import { measureIdleness, runLanes, type Step, type StepResult } from "./suites/run-steps.ts";
import {
	failedTests,
	readSuiteReport,
	skippedTests,
	type SuiteReport,
	tallyOfFile,
	tallyOfReport,
} from "./suites/suite-report.ts";
import { type CommandSuite, type Size, suiteOf, vitestCommand } from "./suites/suites.ts";
import { formatTally, nothing, oneFailed, onePassed, oneSkipped, sum, tallyOfExit } from "./suites/tally.ts";
import { formatTimes, notRun, type SuiteTime } from "./suites/time-table.ts";

const { choice, installMs } = readArguments();
preferThisSession();
const folder = await mkdtemp(join(tmpdir(), "xpdb-test-"));
const reportPath = (name: string): string => join(folder, `${name.replaceAll(" ", "-")}.json`);

function readArguments(): { readonly choice: Choice; readonly installMs: number } {
	try {
		const { values } = parseArgs({
			options: {
				all: { type: "boolean", default: false },
				nightly: { type: "boolean", default: false },
				only: { type: "string", multiple: true, default: [] },
				"install-ms": { type: "string", default: "0" },
			},
		});
		const size: Size = values.nightly ? "nightly" : values.all ? "all" : "quick";
		return { choice: chooseSuites({ size, only: values.only }), installMs: Number(values["install-ms"]) };
	} catch (error) {
		console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
		console.error("Run npm test, npm test -- --all, npm test -- --nightly, or npm test -- --only SUITE");
		console.log(formatTally(oneFailed));
		process.exit(1);
	}
}

// Ctrl-C also reaches the running steps, which may have clusters to stop. So wait for them. Steps in the background have a session of their
// own, which Ctrl-C does not reach.
let isInterrupted = false;
const termination = new AbortController();
const background = new AbortController();
process.on("SIGINT", () => {
	isInterrupted = true;
	background.abort();
});
process.on("SIGTERM", () => {
	isInterrupted = true;
	termination.abort();
	background.abort();
});

function reportingStep(name: string, command: Step["command"], environment: Step["environment"] = {}): Step {
	return {
		name,
		command,
		environment: { ...environment, XPDB_SUITE_REPORT: reportPath(name) },
		tally: (code) => tallyOfReport(readSuiteReport(reportPath(name)), code),
	};
}

function commandStep({ name, command, environment, reports }: CommandSuite): Step {
	if (reports) return reportingStep(name, command(folder), environment);
	return { name, command: command(folder), ...(environment && { environment }), tally: tallyOfExit };
}

const thoseThatRun = (when: CommandSuite["when"]): readonly Step[] =>
	choice.commands.filter((suite) => suite.when === when).map(commandStep);

const realClusters = reportingStep(
	"real clusters",
	vitestCommand(
		choice.project,
		choice.clusters.flatMap(({ files }) => files),
	),
);
/**
 * Exit code 3 means that a program cannot be fetched or built. It counts for nothing here, because each suite that needs the program skips
 * its tests by name.
 */
const building: Step = {
	name: "building programs",
	command: ["test/controlplane/prepare.ts", ...choice.programs],
	tally: (code) => (code === 3 ? nothing : tallyOfExit(code)),
};
const bundling: Step = { name: "build", command: ["scripts/build.ts", "--test"], tally: tallyOfExit };

const besideSteps = thoseThatRun("beside");
const onClusters = [
	...(choice.clusters.length > 0 ? [realClusters] : []),
	...[thoseThatRun("after")].filter((group) => group.length > 0),
	...thoseThatRun("alone"),
];
const mainSteps = [...thoseThatRun("first"), ...(onClusters.length > 0 ? [building, bundling, ...onClusters] : [])];
const reports = (): readonly SuiteReport[] =>
	[...besideSteps, ...mainSteps]
		.flat()
		.filter(({ environment }) => environment?.["XPDB_SUITE_REPORT"] !== undefined)
		.map(({ name }) => readSuiteReport(reportPath(name)));

/** The step of all real clusters also has a row for each of its suites. */
function timesOf({ step, tally, ms, isInterrupted: isLeftOut }: StepResult): readonly SuiteTime[] {
	if (isLeftOut) return [{ name: step.name, result: notRun, ms }];
	if (step !== realClusters) return [{ name: step.name, result: tally, ms }];
	const { files } = readSuiteReport(reportPath(step.name));
	const bySuite = Map.groupBy(files, ({ path }) => suiteOf(path)?.name ?? path);
	return [
		{ name: step.name, result: tally, ms },
		...[...bySuite].map(([name, those]) => ({
			name: `  ${name}`,
			result: sum(those.map(tallyOfFile)),
			ms: those.reduce((total, file) => total + file.ms, 0),
			setUpMs: those.reduce((total, file) => total + file.setUpMs, 0),
		})),
	];
}

try {
	const startedAt = performance.now();
	const idleness = measureIdleness();
	const lanes = [
		{ steps: mainSteps, isBackground: false },
		{ steps: besideSteps, isBackground: mainSteps.length > 0 },
	];
	const results = await runLanes(lanes, {
		signal: termination.signal,
		backgroundSignal: background.signal,
		isInterrupted: () => isInterrupted,
		onEnd: ({ step, tally, isInterrupted: isLeftOut }) =>
			console.log(`${step.name}: ${isLeftOut ? notRun : formatTally(tally)}`),
	});
	const times: readonly SuiteTime[] = [
		{ name: "install", result: onePassed, ms: installMs },
		...results.flatMap(timesOf),
	];
	const all = reports();
	const files = all.flatMap((report) => report.files);
	const msOf = (wanted: Step): number => results.find(({ step }) => step === wanted)?.ms ?? 0;
	const failed = all.flatMap(failedTests).map((test) => `failed: ${test}`);
	const skipped = [...all.flatMap(skippedTests), ...choice.leftOut].map((test) => `skipped: ${test}`);
	const table = formatTimes({
		suites: times,
		files,
		buildMs: msOf(building) + msOf(bundling),
		fleetMs: all.reduce((total, { startMs }) => total + startMs, 0),
		idle: idleness(),
		ms: installMs + performance.now() - startedAt,
	});
	// The failures are last, because often only the end of a long log is shown.
	console.log(["", ...table, "", ...skipped, ...failed].join("\n"));
	const total = sum([onePassed, ...results.map(({ tally }) => tally), ...choice.leftOut.map(() => oneSkipped)]);
	console.log(`\n${formatTally(total)}`);
	process.exitCode = total.failed > 0 ? 1 : 0;
} finally {
	await rm(folder, { recursive: true, force: true });
}
