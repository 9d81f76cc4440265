// The report that suite-reporter.ts writes of a vitest run, for scripts/test.ts and scripts/check.ts.
import { existsSync, readFileSync } from "node:fs";
import { type Tally, oneFailed, sum } from "./tally.ts";

export interface TestRecord {
	/** Includes the names of the suites around the test. */
	readonly name: string;
	readonly state: "passed" | "failed" | "skipped";
	readonly ms: number;
	/** Plain text, one entry for each failure. */
	readonly errors: readonly string[];
}

export interface FileRecord {
	/** From the repository's root, for example "test/e2e/drain.e2e.test.ts". */
	readonly path: string;
	/** Time for its import, its hooks and its tests. */
	readonly ms: number;
	/** The part of `ms` that its import and its hooks took. */
	readonly setUpMs: number;
	/** Failures outside its tests: the file cannot be loaded, or a hook failed. */
	readonly errors: readonly string[];
	readonly tests: readonly TestRecord[];
}

export interface SuiteReport {
	/** Time until the first file began, for example to start clusters for all files. */
	readonly startMs: number;
	readonly files: readonly FileRecord[];
	/** Failures that belong to no file, such as an unhandled rejection. */
	readonly errors: readonly string[];
}

const empty: SuiteReport = { startMs: 0, files: [], errors: [] };

/** Returns the report at this path. Empty if the run ended before it was written. */
export function readSuiteReport(path: string): SuiteReport {
	return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as SuiteReport) : empty;
}

/**
 * Returns the tally of a report. A file that cannot be loaded counts as one failure. So does a run that ended badly although no test
 * failed, for example because of an unhandled rejection.
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

export function skippedTests({ files }: SuiteReport): readonly string[] {
	return files.flatMap(({ tests }) => tests.filter(({ state }) => state === "skipped").map(({ name }) => name));
}

/** Returns each failure with its file and the beginning of its message, because often only the end of a long log is kept. */
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
