// kubectl xpdb check
import { booleanFlag, type CommandRunner, textFlag } from "../flags/command.ts";
import { checkDocument } from "../install/check/check-document.ts";
import { CheckLines } from "../install/check/check-lines.ts";
import { type CheckRow, outcomeOf } from "../install/check/check-report.ts";
import { runChecks } from "../install/check/run-checks.ts";
import { runPreChecks } from "../install/check/run-pre-checks.ts";
import { writeDocument } from "../output/read-format.ts";
import { hasUnicode } from "../run/ui-choice.ts";
import { withContexts } from "../run/with-contexts.ts";
import { UsageError } from "../terminal/errors.ts";

type Format = "table" | "short" | "json" | "yaml";

export const runCheck: CommandRunner = async (input, deps) => {
	const { stdout } = deps.streams;
	const format = readFormat(textFlag(input, "output"));
	const failOnWarning = readFailOn(textFlag(input, "fail-on"));
	const startedAt = performance.now();
	return withContexts(input, deps, async (contexts) => {
		const lines = new CheckLines({
			columns: stdout.columns,
			hasUnicode: stdout.columns !== undefined && hasUnicode(deps.env, process.platform),
			short: format === "short",
		});
		const write = (text: readonly string[]): void => {
			for (const line of text) stdout.write(`${line}\n`);
		};
		const isDocument = format === "json" || format === "yaml";
		const namespace = input.given.has("namespace") ? contexts[0]?.namespace : undefined;
		const rows: CheckRow[] = [];
		const running = booleanFlag(input, "pre")
			? runPreChecks(contexts)
			: runChecks(contexts, { namespace, now: () => performance.now() });
		for await (const row of running) {
			rows.push(row);
			if (!isDocument) write(lines.row(row));
		}
		const outcome = outcomeOf(rows, failOnWarning);
		if (isDocument) writeDocument(stdout, format, checkDocument(rows, outcome));
		else write(lines.summary(outcome, performance.now() - startedAt));
		return outcome.exitCode;
	});
};

function readFormat(output: string): Format {
	if (output === "") return "table";
	const format = (["short", "json", "yaml"] as const).find((each) => each === output);
	if (format) return format;
	throw new UsageError(
		`unable to match a printer suitable for the output format "${output}", allowed formats are: json,short,yaml`,
	);
}

function readFailOn(value: string): boolean {
	if (value === "error" || value === "warn") return value === "warn";
	throw new UsageError(`Invalid --fail-on value (${value}). Must be "error" or "warn".`);
}
