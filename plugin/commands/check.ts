// Implements `kubectl xpdb check`: reads the flags, and prints the checks.
import { setTimeout as delay } from "node:timers/promises";
import {
	type CommandDependencies,
	type CommandInput,
	type CommandRunner,
	booleanFlag,
	textFlag,
	timeoutFlag,
} from "../flags/command.ts";
import { checkDocument } from "../check/check-document.ts";
import { CheckLines } from "../check/check-lines.ts";
import { type CheckRow, outcomeOf } from "../check/check-report.ts";
import { runChecks } from "../check/run-checks.ts";
import { runPreChecks } from "../check/run-pre-checks.ts";
import { type ChecksWait, waitForChecks } from "../check/wait-checks.ts";
import { writeDocument } from "../output/read-format.ts";
import { hasUnicode } from "../run/ui-choice.ts";
import { withContexts } from "../run/with-contexts.ts";
import { UsageError } from "../terminal/errors.ts";
import type { ExitCode } from "../terminal/exit.ts";

type Format = "table" | "short" | "json" | "yaml";

export const runCheck: CommandRunner = async (input, deps) => {
	const { stdout } = deps.streams;
	const format = readFormat(textFlag(input, "output"));
	const failOnWarning = readFailOn(textFlag(input, "fail-on"));
	const timeoutMs = readWait(input);
	return withContexts(input, deps, async (contexts) => {
		const namespace = input.given.has("namespace") ? contexts[0]?.namespace : undefined;
		const check = () => (booleanFlag(input, "pre") ? runPreChecks(contexts) : runChecks(contexts, { namespace, now }));
		const running =
			timeoutMs === undefined ? check() : waited(check, { timeoutMs, failOnWarning, streams: deps.streams });
		if (format !== "json" && format !== "yaml")
			return writeChecks(running, deps, { short: format === "short", failOnWarning });
		const rows = await collected(running);
		const outcome = outcomeOf(rows, failOnWarning);
		writeDocument(stdout, format, checkDocument(rows, outcome));
		return outcome.exitCode;
	});
};

/** Repeats the checks as waitForChecks() does, and yields the rows of the last round. */
export async function* waited(
	check: () => AsyncIterable<CheckRow>,
	{
		streams,
		signal,
		...options
	}: Pick<CommandDependencies, "streams"> &
		Pick<ChecksWait, "timeoutMs" | "failOnWarning" | "onlyFor"> & { readonly signal?: AbortSignal },
): AsyncGenerator<CheckRow> {
	yield* await waitForChecks({
		...options,
		check: () => collected(check()),
		now,
		pause: (ms) => delay(ms, undefined, { signal }),
		tell: (line) => streams.stderr.write(`${line}\n`),
	});
}

async function collected(running: AsyncIterable<CheckRow>): Promise<readonly CheckRow[]> {
	const rows: CheckRow[] = [];
	for await (const row of running) rows.push(row);
	return rows;
}

export async function writeChecks(
	running: AsyncIterable<CheckRow>,
	{ streams: { stdout }, env }: CommandDependencies,
	{ short, failOnWarning }: { readonly short: boolean; readonly failOnWarning: boolean },
): Promise<ExitCode> {
	const startedAt = now();
	const lines = new CheckLines({
		columns: stdout.columns,
		hasUnicode: stdout.columns !== undefined && hasUnicode(env, process.platform),
		short,
	});
	const write = (text: readonly string[]): void => {
		for (const line of text) stdout.write(`${line}\n`);
	};
	const rows: CheckRow[] = [];
	for await (const row of running) {
		rows.push(row);
		write(lines.row(row));
	}
	const outcome = outcomeOf(rows, failOnWarning);
	write(lines.summary(outcome, now() - startedAt));
	return outcome.exitCode;
}

function now(): number {
	return performance.now();
}

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

/** Returns how long to wait, in milliseconds. Undefined: do not wait. */
function readWait(input: CommandInput): number | undefined {
	if (booleanFlag(input, "wait")) return timeoutFlag(input);
	if (input.given.has("timeout")) throw new UsageError("--timeout is how long to wait", "Add --wait");
	return undefined;
}
