import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failedTests, formatTally, readVitestReport, skippedTests, sum } from "../../scripts/tally.ts";

let folder = "";
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "xpdb-tally-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A report as vitest writes it, with one file for each list of results. */
function reportOf(
	files: readonly { readonly status?: string; readonly tests: readonly string[] }[],
	success = true,
): string {
	const path = join(folder, "report.json");
	const testResults = files.map(({ status = "passed", tests }) => ({
		name: join(process.cwd(), "test/report.test.ts"),
		status,
		message: "",
		assertionResults: tests.map((result, index) => ({
			status: result,
			fullName: `${result} ${index}`,
			failureMessages: [],
		})),
	}));
	writeFileSync(path, JSON.stringify({ success, testResults }));
	return path;
}

describe("readVitestReport()", () => {
	const rows = [
		{ name: "nothing run", files: [], exitCode: 0, expected: "0 passed, 0 failed, 0 skipped" },
		{
			name: "every test of every file",
			files: [{ tests: ["passed", "passed"] }, { tests: ["passed", "skipped"] }],
			exitCode: 0,
			expected: "3 passed, 0 failed, 1 skipped",
		},
		{
			name: "tests still to be written as skipped",
			files: [{ tests: ["todo", "pending"] }],
			exitCode: 0,
			expected: "0 passed, 0 failed, 2 skipped",
		},
		{
			name: "failures, each once",
			files: [{ status: "failed", tests: ["passed", "failed", "failed"] }],
			exitCode: 1,
			success: false,
			expected: "1 passed, 2 failed, 0 skipped",
		},
		{
			name: "a file that could not be loaded as a failure",
			files: [{ status: "failed", tests: [] }, { tests: ["passed"] }],
			exitCode: 1,
			success: false,
			expected: "1 passed, 1 failed, 0 skipped",
		},
		{
			name: "a file that failed outside of its tests as a failure",
			files: [{ status: "failed", tests: ["passed"] }],
			exitCode: 1,
			success: false,
			expected: "1 passed, 1 failed, 0 skipped",
		},
		{
			name: "a bad end for no test's reason as a failure",
			files: [{ tests: ["passed"] }],
			exitCode: 1,
			expected: "1 passed, 1 failed, 0 skipped",
		},
	];
	for (const { name, files, exitCode, success, expected } of rows) {
		test(`counts ${name}`, () => {
			expect(formatTally(readVitestReport(reportOf(files, success), exitCode))).toBe(expected);
		});
	}

	test("counts a run that left no report as a failure, even with exit code 0", () => {
		expect(formatTally(readVitestReport(join(folder, "nothing.json"), 0))).toBe("0 passed, 1 failed, 0 skipped");
	});
});

describe("skippedTests()", () => {
	test("names what did not run", () => {
		expect(skippedTests(reportOf([{ tests: ["passed", "skipped"] }, { tests: ["failed", "todo"] }]))).toEqual([
			"skipped 1",
			"todo 1",
		]);
	});

	test("names nothing without a report", () => {
		expect(skippedTests(join(folder, "nothing.json"))).toEqual([]);
	});
});

describe("sum()", () => {
	test("adds up each kind", () => {
		const tally = { passed: 1, failed: 2, skipped: 3 };
		expect(sum([tally, tally])).toEqual({ passed: 2, failed: 4, skipped: 6 });
	});
});

describe("failedTests()", () => {
	const nameOf = (file: string) => join(process.cwd(), file);

	test("names each failed test with its file, and begins its message", () => {
		const path = join(folder, "report.json");
		const assertionResults = [
			{ status: "passed", fullName: "a count is right", failureMessages: [] },
			{
				status: "failed",
				fullName: "a count is late",
				failureMessages: ["\u001b[31mexpected 3\u001b[39m\n    at count.ts:1"],
			},
		];
		const testResults = [{ name: nameOf("test/count.test.ts"), status: "failed", message: "", assertionResults }];
		writeFileSync(path, JSON.stringify({ success: false, testResults }));
		expect(failedTests(path)).toEqual(["test/count.test.ts > a count is late\n  expected 3\n      at count.ts:1"]);
	});

	test("names a file that could not be loaded, and cuts what is long", () => {
		const path = join(folder, "report.json");
		const testResults = [
			{ name: nameOf("test/gone.test.ts"), status: "failed", message: "x".repeat(5000), assertionResults: [] },
		];
		writeFileSync(path, JSON.stringify({ success: false, testResults }));
		expect(failedTests(path)).toEqual([`test/gone.test.ts\n  ${"x".repeat(1500)}...`]);
	});

	test("says nothing where nothing failed, and where there is no report", () => {
		expect(failedTests(reportOf([{ tests: ["passed"] }]))).toEqual([]);
		expect(failedTests(join(folder, "none.json"))).toEqual([]);
	});
});
