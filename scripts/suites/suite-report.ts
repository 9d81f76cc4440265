// What a vitest run leaves behind for scripts/test.ts and scripts/check.ts: each test with its verdict and its time. Written by
// suite-reporter.ts.
import { existsSync, readFileSync } from "node:fs";
import { type Tally, oneFailed, sum } from "./tally.ts";

export interface TestRecord {
	/** With the names of the suites around it. */
	readonly name: string;
	readonly state: "passed" | "failed" | "skipped";
	readonly ms: number;
	/** Plain text, a failure each. */
	readonly errors: readonly string[];
}

export interface FileRecord {
	/** From the repository's root: "test/e2e/drain.e2e.test.ts". */
	readonly path: string;
	/** Importing it, its hooks, its tests. */
	readonly ms: number;
	/** Of that, importing it and its hooks. */
	readonly setUpMs: number;
	/** Failures outside its tests: it cannot be loaded, a hook failed. */
	readonly errors: readonly string[];
	readonly tests: readonly TestRecord[];
}

export interface SuiteReport {
	/** Until the first file began: clusters that were started for all of them. */
	readonly startMs: number;
	readonly files: readonly FileRecord[];
	/** Failures that belong to no file, such as an unhandled rejection. */
	readonly errors: readonly string[];
}

const empty: SuiteReport = { startMs: 0, files: [], errors: [] };

/** The report at this path; an empty one where the run ended before it was written. */
export function readSuiteReport(path: string): SuiteReport {
	return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as SuiteReport) : empty;
}

/**
 * A file that cannot be loaded has no tests and counts as one failure. So does a run that ended badly although no test failed: an
 * unhandled rejection, a crash before the report.
 */
export function tallyOfReport(report: SuiteReport, exitCode: number): Tally {
	if (report.files.length === 0) return oneFailed;
	const tally = sum(report.files.map(tallyOfFile));
	const isUnexplained = tally.failed === 0 && (exitCode !== 0 || report.errors.length > 0);
	return isUnexplained ? sum([tally, oneFailed]) : tally;
}

export function tallyOfFile({ tests, errors }: FileRecord): Tally {
	const count = (wanted: TestRecord["state"]) => tests.filter(({ state }) => state === wanted).length;
	const failed = count("failed");
	return {
		passed: count("passed"),
		failed: failed === 0 && errors.length > 0 ? 1 : failed,
		skipped: count("skipped"),
	};
}

/** The full names of the tests that did not run. */
export function skippedTests({ files }: SuiteReport): readonly string[] {
	return files.flatMap(({ tests }) => tests.filter(({ state }) => state === "skipped").map(({ name }) => name));
}

/** Each failure with its file and the beginning of its message, because the end of a long log is often all that is kept. */
export function failedTests({ files, errors }: SuiteReport): readonly string[] {
	return [
		...files.flatMap(({ path, errors: outside, tests }) => [
			...(outside.length > 0 ? [`${path}\n${beginningOf(outside)}`] : []),
			...tests
				.filter(({ state }) => state === "failed")
				.map((test) => `${path} > ${test.name}\n${beginningOf(test.errors)}`),
		]),
		...(errors.length > 0 ? [`outside of all tests\n${beginningOf(errors)}`] : []),
	];
}

const shownCharacters = 1500;

function beginningOf(errors: readonly string[]): string {
	const text = errors.join("\n").trim();
	const shown = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}...` : text;
	return shown.replaceAll(/^/gm, "  ");
}
