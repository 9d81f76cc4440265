// Prints an error for the user, and returns its exit code.
import { inspect } from "node:util";
import { AgentUnavailableError, isDomainError } from "../../disruption/errors.ts";
import { ApiError, ConnectionError, errorText, kubectlErrorLine } from "../kubernetes/api-error.ts";
import { FleetUncoveredError, KubeconfigError, UsageError } from "../terminal/errors.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import type { TextSink } from "../terminal/streams.ts";

export interface ErrorReport {
	readonly argv: readonly string[];
	/** From guardStreams(), because errors quote foreign text. */
	readonly stderr: TextSink;
	/** Undefined if the flags could not be read. */
	readonly checkCommand?: string | undefined;
}

export function reportError(error: unknown, { argv, stderr, checkCommand }: ErrorReport): ExitCode {
	const { lines: described, code } = describeError(error, argv);
	const mustBeFound = error instanceof FleetUncoveredError && !error.isExplained && checkCommand !== undefined;
	const lines = mustBeFound ? [...described, `Find out why: ${checkCommand}`] : described;
	for (const line of lines) stderr.write(`${line}\n`);
	return code;
}

export interface ErrorDescription {
	readonly lines: readonly string[];
	readonly code: ExitCode;
}

export function describeError(error: unknown, argv: readonly string[]): ErrorDescription {
	const failed = (...lines: readonly string[]): ErrorDescription => ({ lines, code: exitCode.error });
	if (error instanceof UsageError) {
		return failed(`error: ${error.message}`, ...(error.hint === undefined ? [] : [error.hint]));
	}
	if (error instanceof KubeconfigError) return failed(error.message);
	if (error instanceof FleetUncoveredError) {
		const details = error.details.map((detail) => `  ${detail}`);
		return { lines: [`error: ${error.message}`, ...details], code: error.exitCode };
	}
	if (error instanceof ConnectionError) {
		// If the only server refuses the connection or is unknown, the exit code is kubectl's.
		const isMissing = error.isSilent || error.context !== undefined;
		return { lines: [kubectlErrorLine(error)], code: isMissing ? exitCode.failedClosed : exitCode.error };
	}
	if (error instanceof ApiError) return failed(kubectlErrorLine(error));
	if (error instanceof AgentUnavailableError) {
		return { lines: [`error: ${error.message}`], code: exitCode.failedClosed };
	}
	if (isDomainError(error)) return failed(`error: ${error.message}`);
	const isVerbose = argv.some((word, index) => {
		const value = /^(?:-v|--v)=?(\d*)$/.exec(word)?.[1];
		return Number(value === "" ? argv[index + 1] : value) >= 9;
	});
	return failed(
		`error: internal error: ${firstLine(error)}`,
		isVerbose ? inspect(error) : "This is a bug in kubectl-xpdb: run it again with -v=9 and report what it prints",
	);
}

export function describeBriefly(error: unknown): string {
	const [why = ""] = describeError(error, []).lines;
	return why.replace(/^error: /i, "");
}

function firstLine(error: unknown): string {
	return errorText(error).split("\n")[0] ?? "";
}
