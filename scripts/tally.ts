// Counts of a test run: one for each step without tests of its own, and every test of vitest's JSON reports.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

export interface Tally {
	readonly passed: number;
	readonly failed: number;
	readonly skipped: number;
}

export const onePassed: Tally = { passed: 1, failed: 0, skipped: 0 };
export const oneFailed: Tally = { passed: 0, failed: 1, skipped: 0 };
export const oneSkipped: Tally = { passed: 0, failed: 0, skipped: 1 };

export function sum(tallies: readonly Tally[]): Tally {
	return tallies.reduce(
		(total, { passed, failed, skipped }) => ({
			passed: total.passed + passed,
			failed: total.failed + failed,
			skipped: total.skipped + skipped,
		}),
		{ passed: 0, failed: 0, skipped: 0 },
	);
}

export function formatTally({ passed, failed, skipped }: Tally): string {
	return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

interface VitestReport {
	readonly success: boolean;
	readonly testResults: readonly {
		/** The file's path. */
		readonly name: string;
		readonly status: string;
		/** Why the file failed beside its tests; empty where it did not. */
		readonly message: string;
		readonly assertionResults: readonly {
			readonly status: string;
			readonly fullName: string;
			readonly failureMessages: readonly string[];
		}[];
	}[];
}

function readReport(path: string): VitestReport {
	return JSON.parse(readFileSync(path, "utf8")) as VitestReport;
}

/** The full names of the tests that did not run; vitest's own reporter shows only how many there were. */
export function skippedTests(path: string): string[] {
	if (!existsSync(path)) return [];
	return readReport(path).testResults.flatMap(({ assertionResults }) =>
		assertionResults.filter(({ status }) => status !== "passed" && status !== "failed").map(({ fullName }) => fullName),
	);
}

/**
 * Every failure with its file and the beginning of its message: the end of a long log is often all that is kept of it, and
 * vitest's own words stand many suites before.
 */
export function failedTests(path: string): string[] {
	if (!existsSync(path)) return [];
	return readReport(path).testResults.flatMap(({ name, status, message, assertionResults }) => {
		const file = relative(process.cwd(), name);
		const failed = assertionResults.filter((test) => test.status === "failed");
		if (failed.length === 0 && status === "failed") return [`${file}\n${beginningOf(message)}`];
		return failed.map((test) => `${file} > ${test.fullName}\n${beginningOf(test.failureMessages.join("\n"))}`);
	});
}

const shownCharacters = 1500;

function beginningOf(message: string): string {
	const text = stripVTControlCharacters(message).trim();
	const shown = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}...` : text;
	return shown.replaceAll(/^/gm, "  ");
}

/**
 * What vitest counted. A file that could not even be loaded has no tests, so it counts as one failure; so does a run
 * that ended badly for a reason that is no test's (an unhandled rejection, a crash before the report).
 */
export function readVitestReport(path: string, exitCode: number): Tally {
	if (!existsSync(path)) return oneFailed;
	const report = readReport(path);
	const tally = sum(
		report.testResults.map(({ status, assertionResults }) => {
			const count = (wanted: string) => assertionResults.filter((test) => test.status === wanted).length;
			const passed = count("passed");
			const failed = count("failed");
			const skipped = assertionResults.length - passed - failed;
			return { passed, failed: failed === 0 && status === "failed" ? 1 : failed, skipped };
		}),
	);
	const isUnexplained = tally.failed === 0 && (exitCode !== 0 || !report.success);
	return isUnexplained ? sum([tally, oneFailed]) : tally;
}
