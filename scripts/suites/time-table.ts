// Formats the end of a test run: the time of each suite, the slowest tests, and where the rest of the time went.
import { formatDuration } from "../run-command.ts";
import type { FileRecord } from "./suite-report.ts";
import { formatTally, type Tally } from "./tally.ts";

export const notRun = "not run: interrupted";

export interface SuiteTime {
	readonly name: string;
	readonly result: Tally | typeof notRun;
	readonly ms: number;
	/** The time of imports and hooks. If files ran side by side, `ms` is the sum of their times. */
	readonly setUpMs?: number;
}

export interface RunTimes {
	readonly suites: readonly SuiteTime[];
	readonly files: readonly FileRecord[];
	readonly buildMs: number;
	/** Time before the first test file of each vitest run, summed: mostly the start of clusters. */
	readonly fleetMs: number;
	/** Share of processor time, from 0 to 1. */
	readonly idle: number;
	readonly ms: number;
}

const slowest = 10;

export function formatTimes({ suites, files, buildMs, fleetMs, idle, ms }: RunTimes): readonly string[] {
	const names = Math.max(...suites.map(({ name }) => name.length)) + 2;
	const rows = suites.map(({ name, result, ms: suiteMs, setUpMs }) => {
		const text = typeof result === "string" ? result : formatTally(result);
		const setUp = setUpMs === undefined ? "" : `, ${formatDuration(setUpMs)} of it set-up`;
		return `${name.padEnd(names)}${text} (${formatDuration(suiteMs)}${setUp})`;
	});
	const tests = files.flatMap(({ path, tests: all }) => all.map((test) => ({ path, ...test })));
	const slow = tests
		.toSorted((a, b) => b.ms - a.ms)
		.slice(0, slowest)
		.map((test) => `${formatDuration(test.ms).padStart(12)}  ${test.path} > ${test.name}`);
	const setUpMs = files.reduce((total, file) => total + file.setUpMs, 0);
	return [
		...rows,
		...(slow.length > 0 ? ["", "slowest tests", ...slow] : []),
		"",
		`building ${formatDuration(buildMs)}, starting clusters ${formatDuration(fleetMs)}, set-up of test files ${formatDuration(setUpMs)}, ` +
			`processors idle ${Math.round(idle * 100)} % of the time`,
		`all in ${formatDuration(ms)}`,
	];
}
