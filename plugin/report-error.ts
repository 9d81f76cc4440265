// What a person sees of an error, and the exit code that goes with it. Never a stack, unless it was asked for.
import { inspect } from "node:util";
import { AgentForbiddenError, AgentProtocolError, AgentUnavailableError } from "../disruption/errors.ts";
import { ApiError, ConnectionError, kubectlErrorLine } from "./api-error.ts";
import { FleetUncoveredError, KubeconfigError, SilentExit, UsageError } from "./errors.ts";
import { type ExitCode, exitCode } from "./exit.ts";
import type { TextSink } from "./streams.ts";

export interface ErrorReport {
	readonly argv: readonly string[];
	readonly stderr: TextSink;
}

export function reportError(error: unknown, { argv, stderr }: ErrorReport): ExitCode {
	const line = (text: string): void => stderr.write(`${text}\n`);
	if (error instanceof SilentExit) return error.exitCode;
	if (error instanceof UsageError) {
		line(`error: ${error.message}`);
		if (error.hint !== undefined) line(error.hint);
		return exitCode.error;
	}
	if (error instanceof KubeconfigError) {
		line(error.message);
		return exitCode.error;
	}
	if (error instanceof FleetUncoveredError) {
		line(`error: ${error.message}`);
		for (const detail of error.details) line(`  ${detail}`);
		return error.exitCode;
	}
	if (error instanceof ApiError || error instanceof ConnectionError) {
		line(kubectlErrorLine(error));
		return exitCode.error;
	}
	if (error instanceof AgentUnavailableError) {
		line(`error: ${error.message}`);
		return exitCode.failedClosed;
	}
	if (error instanceof AgentForbiddenError || error instanceof AgentProtocolError) {
		line(`error: ${error.message}`);
		return exitCode.error;
	}
	line(`error: internal error: ${firstLine(error)}`);
	if (argv.some((word) => /^(-v|--v)=?9$/.test(word))) line(inspect(error));
	else line("This is a bug in kubectl-xpdb: run it again with -v=9 and report what it prints");
	return exitCode.error;
}

function firstLine(error: unknown): string {
	return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}
