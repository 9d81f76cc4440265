// Reports a run's events to the screen or plain lines, the JSON lines and the picture. The last event of a started run is its summary, even
// after an error or a second Ctrl-C.
import type { EventSink, RunCommand, RunSummary } from "../events/events.ts";
import { type CommandDependencies, type CommandInput, textFlag } from "../flags/command.ts";
import { parseDryRun } from "../flags/dry-run.ts";
import { SuggestedCommands } from "../flags/suggested-commands.ts";
import { userAtHost } from "../fleet/holder-identity.ts";
import { errorText } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { openContexts } from "../kubernetes/open-contexts.ts";
import { tellOnce } from "../kubernetes/server-warning.ts";
import { typedCommand } from "../nodes/resume-command.ts";
import { createNdjsonWriter } from "../output/ndjson.ts";
import { createPlainWriter } from "../output/plain.ts";
import { counted } from "../terminal/counted.ts";
import { UsageError } from "../terminal/errors.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import { openPictureFile } from "./picture-file.ts";
import { describeError } from "./report-error.ts";
import { RunRecord } from "./run-record.ts";
import { RunScreen } from "./run-screen.ts";
import { readUiChoice } from "./ui-choice.ts";

export interface RunCall {
	readonly command: RunCommand;
	readonly op?: string;
	readonly input: CommandInput;
	readonly deps: CommandDependencies;
}

export interface RunReport {
	/** Opens the contexts of the flags. They are closed when the run is over. */
	open(): OpenRun;
}

export interface OpenRun {
	readonly contexts: readonly KubeContext[];
	readonly emit: EventSink;
	readonly record: RunRecord;
	readonly suggest: SuggestedCommands;
	/** -o json */
	readonly writesJson: boolean;
	/** --report */
	readonly drawsReport: boolean;
	/** Undefined if JSON goes to the terminal or into a pipe. */
	readonly screen: RunScreen | undefined;
	/** Sets the commands that continue or undo the run. They are computed when the run ends. */
	readonly offer: (commands: () => NextCommands) => void;
}

export type NextCommands = Pick<RunSummary, "resume" | "undo">;

export async function reportRun(
	{ command, op, input, deps }: RunCall,
	live: (report: RunReport) => Promise<ExitCode>,
): Promise<ExitCode> {
	const { streams, interrupts } = deps;
	const writesJson = readFormat(input) === "json";
	const contexts: KubeContext[] = [];
	const clocks = { now: () => performance.now(), wallClock: () => Date.now() };
	const record = new RunRecord(command, clocks.wallClock);
	const suggest = new SuggestedCommands(input.globals);
	const line = {
		command,
		...(op !== undefined && { op }),
		suggest,
		commandLine: typedCommand(input.argv),
		by: userAtHost(),
		...clocks,
	};
	const choice = readUiChoice(input, deps.env);
	const isBesideResults = writesJson && deps.terminal?.isOutputFile === true;
	if (writesJson && !isBesideResults && textFlag(input, "ui") === "full")
		throw new UsageError("--ui=full needs the results of -o json in a file: drain ... -o json > run.ndjson");
	const pictureName = textFlag(input, "report");
	const picture = pictureName === "" ? undefined : openPictureFile(pictureName, line);
	let next = (): NextCommands => ({});
	const screen =
		writesJson && !isBesideResults
			? undefined
			: new RunScreen({
					choice,
					isBesideResults,
					isTyped: textFlag(input, "ui") !== "",
					command,
					op: op ?? "",
					suggest,
					verbosity: input.globals.verbosity,
					deps,
					contexts,
					writePlain(options) {
						const names = contexts.map(({ name }) => name);
						return createPlainWriter({
							streams: isBesideResults ? { ...streams, stdout: streams.stderr } : streams,
							contexts: names,
							suggest,
							...options,
							...clocks,
						});
					},
				});
	const json = writesJson ? createNdjsonWriter({ ...line, stdout: streams.stdout }) : undefined;
	const emit: EventSink = (event) => {
		if (record.hasSummary) return;
		record.see(event);
		picture?.see(event);
		json?.(event);
		screen?.write(event);
	};
	const dryRun = readDryRun(input);
	const run = { ...(op !== undefined && { op }), ...(dryRun !== undefined && { dryRun }) };
	const end = (code: ExitCode, interrupted: boolean): void => {
		if (record.started || writesJson) emit(record.summary({ ...run, exitCode: code, interrupted, ...next() }));
		drawPicture();
	};
	let isDrawn = false;
	const drawPicture = (): void => {
		// A second Ctrl-C can arrive while the run is ending.
		if (isDrawn) return;
		isDrawn = true;
		if (!record.started) return picture?.discard();
		try {
			picture?.write();
		} catch (error) {
			// The run's work is done, so its exit code stays.
			streams.stderr.write(`error: cannot write the report to "${pictureName}": ${errorText(error)}\n`);
		}
	};
	let warnings = 0;
	const onWarning = tellOnce((context, message) => {
		warnings += 1;
		emit({ type: "diagnostic", level: "warning", context, message });
	});
	const onSilence = (context: string, message: string): void => {
		emit({ type: "diagnostic", level: "info", context, reason: "ServerUnreachable", message });
		// -o json holds its events back until the run starts, so a waiting user would not see this message.
		if (!screen && !record.started) streams.stderr.write(`${contexts.length > 1 ? `${context}: ` : ""}${message}\n`);
	};
	const onLogin = (logged: readonly string[], program: string) => {
		const login = { contexts: logged, command: program };
		const begunAt = clocks.now();
		emit({ type: "login.started", ...login });
		return (message?: string): void =>
			emit({
				type: "login.ended",
				...login,
				elapsedMs: clocks.now() - begunAt,
				...(message !== undefined && { message }),
			});
	};
	const forget = interrupts.onLeave((code) => end(code, true));
	try {
		const code = await live({
			open() {
				contexts.push(
					...openContexts(input.globals, deps.env, streams.stderr, {
						onWarning,
						onSilence,
						onLogin,
						turns: deps.terminal?.turns,
						stop: deps.interrupts.stop,
					}),
				);
				const offer = (commands: () => NextCommands): void => {
					next = commands;
				};
				return { contexts, emit, record, suggest, writesJson, drawsReport: picture !== undefined, screen, offer };
			},
		});
		if (code === exitCode.done && warnings > 0 && input.globals.warningsAsErrors) {
			throw new UsageError(`${counted(warnings, "warning")} received`);
		}
		end(code, interrupts.stoppedBy !== undefined);
		return code;
	} catch (error) {
		const { lines, code } = describeError(error, input.argv);
		const message = lines.join("\n").replace(/^error: /, "");
		// In plain lines, the caller that ends the process prints the error.
		if (writesJson) emit({ type: "diagnostic", level: "error", message });
		end(code, interrupts.stoppedBy !== undefined);
		throw error;
	} finally {
		forget();
		for (const { client } of contexts) client.close();
	}
}

/** For the summary. Undefined if the run is no dry run, and for an invalid value, which is reported before the run begins. */
function readDryRun(input: CommandInput): "client" | "server" | undefined {
	const text = textFlag(input, "dry-run");
	if (text === "") return undefined;
	try {
		const dryRun = parseDryRun(text, { write: () => true });
		return dryRun === "none" ? undefined : dryRun;
	} catch (error) {
		if (!(error instanceof UsageError)) throw error;
		return undefined;
	}
}

function readFormat(input: CommandInput): "plain" | "json" {
	const output = textFlag(input, "output");
	if (output === "") return "plain";
	if (output === "json") return "json";
	throw new UsageError(`unable to match a printer suitable for the output format "${output}"`, "Allowed: json");
}
