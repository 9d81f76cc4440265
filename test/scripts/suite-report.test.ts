import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../../scripts/run-command.ts";
import {
	type FileRecord,
	failedTests,
	readSuiteReport,
	skippedTests,
	type SuiteReport,
	tallyOfReport,
	type TestRecord,
} from "../../scripts/suites/suite-report.ts";
import { formatTally, sum } from "../../scripts/suites/tally.ts";

let folder = "";
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "xpdb-report-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(states: readonly TestRecord["state"][], errors: readonly string[] = []): FileRecord {
	const tests = states.map((state, index) => ({ name: `${state} ${index}`, state, ms: 1, errors: [] }));
	return { path: "test/report.test.ts", ms: 1, setUpMs: 0, errors, tests };
}

function reportOf(files: readonly FileRecord[], errors: readonly string[] = []): SuiteReport {
	return { startMs: 0, files, errors };
}

describe("tallyOfReport()", () => {
	const rows = [
		{ name: "a run of nothing as a failure", files: [], exitCode: 0, expected: "0 passed, 1 failed, 0 skipped" },
		{
			name: "every test of every file",
			files: [fileOf(["passed", "passed"]), fileOf(["passed", "skipped"])],
			exitCode: 0,
			expected: "3 passed, 0 failed, 1 skipped",
		},
		{
			name: "failures, each once",
			files: [fileOf(["passed", "failed", "failed"])],
			exitCode: 1,
			expected: "1 passed, 2 failed, 0 skipped",
		},
		{
			name: "a file that could not be loaded as a failure",
			files: [fileOf([], ["no such module"]), fileOf(["passed"])],
			exitCode: 1,
			expected: "1 passed, 1 failed, 0 skipped",
		},
		{
			name: "a file that failed outside its tests as a failure",
			files: [fileOf(["passed"], ["a hook failed"])],
			exitCode: 1,
			expected: "1 passed, 1 failed, 0 skipped",
		},
		{
			name: "a bad end for no test's reason as a failure",
			files: [fileOf(["passed"])],
			exitCode: 1,
			expected: "1 passed, 1 failed, 0 skipped",
		},
		{
			name: "an unhandled rejection as a failure, even with exit code 0",
			files: [fileOf(["passed"])],
			errors: ["unhandled"],
			exitCode: 0,
			expected: "1 passed, 1 failed, 0 skipped",
		},
	];
	for (const { name, files, errors, exitCode, expected } of rows) {
		test(`counts ${name}`, () => {
			expect(formatTally(tallyOfReport(reportOf(files, errors), exitCode))).toBe(expected);
		});
	}

	test("counts a run that left no report as a failure, even with exit code 0", () => {
		const report = readSuiteReport(join(folder, "nothing.json"));
		expect(formatTally(tallyOfReport(report, 0))).toBe("0 passed, 1 failed, 0 skipped");
	});
});

test("skippedTests() names what did not run", () => {
	const report = reportOf([fileOf(["passed", "skipped"]), fileOf(["failed", "skipped"])]);
	expect(skippedTests(report)).toEqual(["skipped 1", "skipped 1"]);
});

describe("failedTests()", () => {
	test("names each failed test with its file, and begins its message", () => {
		const failed: TestRecord = {
			name: "a count is late",
			state: "failed",
			ms: 1,
			errors: ["expected 3\n    at count.ts:1"],
		};
		const file = { ...fileOf(["passed"]), tests: [failed] };
		expect(failedTests(reportOf([file]))).toEqual([
			"test/report.test.ts > a count is late\n  expected 3\n      at count.ts:1",
		]);
	});

	test("names a file that could not be loaded, and cuts what is long", () => {
		expect(failedTests(reportOf([fileOf([], ["x".repeat(5000)])]))).toEqual([
			`test/report.test.ts\n  ${"x".repeat(1500)}...`,
		]);
	});

	test("says what failed outside all tests, and nothing where nothing failed", () => {
		expect(failedTests(reportOf([fileOf(["passed"])], ["unhandled"]))).toEqual(["outside of all tests\n  unhandled"]);
		expect(failedTests(reportOf([fileOf(["passed"])]))).toEqual([]);
	});
});

test("sum() adds up each kind", () => {
	const tally = { passed: 1, failed: 2, skipped: 3 };
	expect(sum([tally, tally])).toEqual({ passed: 2, failed: 4, skipped: 6 });
});

test("a run of vitest leaves a report, and says at once what failed and in which file", async () => {
	const file = join(folder, "of-the-reporter.test.mjs");
	writeFileSync(
		file,
		`import { beforeAll, describe, expect, test } from "vitest";
		beforeAll(() => new Promise((done) => setTimeout(done, 50)));
		describe("a suite", () => {
			test("passes", () => {});
			test("fails", () => expect(1).toBe(2));
			test.skip("is skipped", () => {});
		});`,
	);
	const config = join(folder, "vitest.config.mjs");
	const reporter = join(process.cwd(), "scripts", "suites", "suite-reporter.ts");
	const reportPath = join(folder, "report.json");
	writeFileSync(
		config,
		`import { SuiteReporter } from ${JSON.stringify(reporter)};
		export default { test: { include: ["*.test.mjs"], reporters: [new SuiteReporter(${JSON.stringify(reportPath)})] } };`,
	);
	const { code, output } = await runCommand(["vitest", "run", `--root=${folder}`, `--config=${config}`]);
	expect(code, output).toBe(1);
	expect(output).toMatch(/^FAILED 1\/1 .*of-the-reporter\.test\.mjs: 1 passed, 1 failed, 1 skipped \(/m);
	expect(output).toContain("a suite > fails:");
	expect(output).toContain("expected 1 to be 2");
	const report = readSuiteReport(reportPath);
	expect(formatTally(tallyOfReport(report, code))).toBe("1 passed, 1 failed, 1 skipped");
	expect(report.files[0]?.setUpMs).toBeGreaterThanOrEqual(40);
});
