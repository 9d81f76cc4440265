// Prints a vitest run: a line for each finished file, and each failure at once, so that a stopped run has shown its failures. It also
// writes a SuiteReport.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { SerializedError } from "vitest";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { formatDuration } from "../run-command.ts";
import { type FileRecord, type SuiteReport, type TestRecord, tallyOfFile } from "./suite-report.ts";
import { formatTally } from "./tally.ts";

export class SuiteReporter implements Reporter {
	readonly #path: string;
	readonly #print: (line: string) => void;
	readonly #createdAt = performance.now();
	#startMs: number | undefined;
	#done = 0;
	#files = 0;

	constructor(path: string, print: (line: string) => void = (line) => console.log(line)) {
		this.#path = path;
		this.#print = print;
	}

	onTestRunStart(files: readonly unknown[]): void {
		this.#files = files.length;
	}

	onTestModuleQueued(): void {
		this.#startMs ??= Math.round(performance.now() - this.#createdAt);
	}

	onTestModuleEnd(module: TestModule): void {
		const file = recordOf(module);
		const tally = tallyOfFile(file);
		this.#done += 1;
		const mark = tally.failed > 0 ? "FAILED" : "ok";
		const count = `${this.#done}/${this.#files}`;
		this.#print(`${mark.padEnd(7)}${count} ${file.path}: ${formatTally(tally)} (${formatDuration(file.ms)})`);
		for (const error of file.errors) this.#print(indented(error));
		for (const { name, state, errors } of file.tests) {
			if (state === "failed") this.#print(indented([`${name}:`, ...errors].join("\n")));
		}
	}

	onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
		const errors = unhandled.map(textOf);
		for (const error of errors) this.#print(indented(error));
		const report: SuiteReport = { startMs: this.#startMs ?? 0, files: modules.map(recordOf), errors };
		writeFileSync(this.#path, JSON.stringify(report));
	}
}

function recordOf(module: TestModule): FileRecord {
	const tests = [...module.children.allTests()].map(recordOfTest);
	const { collectDuration, duration } = module.diagnostic();
	const ofTests = tests.reduce((total, { ms }) => total + ms, 0);
	return {
		path: relative(process.cwd(), module.moduleId),
		ms: Math.round(collectDuration + duration),
		// The sum of tests that run side by side can be longer than the time of their file.
		setUpMs: Math.round(collectDuration + Math.max(0, duration - ofTests)),
		errors: [module, ...module.children.allSuites()].flatMap((suite) => suite.errors()).map(textOf),
		tests,
	};
}

function recordOfTest(test: TestCase): TestRecord {
	const { state, errors = [] } = test.result();
	return {
		name: test.fullName,
		state: state === "pending" ? "skipped" : state,
		ms: Math.round(test.diagnostic()?.duration ?? 0),
		errors: errors.map(textOf),
	};
}

function textOf({ message, stack, diff }: SerializedError): string {
	const lines = [stack?.includes(message) ? stack : [message, stack].filter(Boolean).join("\n"), diff].filter(Boolean);
	return stripVTControlCharacters(lines.join("\n"));
}

function indented(text: string): string {
	return text.replaceAll(/^/gm, "    ");
}
