// Starts run() with the process's streams and signals, and exits with its exit code.
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { requireVerifiedTls } from "../proto/verified-tls.ts";
import { answerWithoutPattern } from "./kubernetes/no-address.ts";
import { describeError } from "./run/report-error.ts";
import { run } from "./run-command.ts";
import { type ExitCode, exitCode } from "./terminal/exit.ts";
import { guardSink } from "./terminal/guarded-streams.ts";
import { InterruptSource } from "./terminal/interrupts.ts";
import type { Streams } from "./terminal/streams.ts";
import { TerminalTurns } from "./terminal/terminal-turns.ts";

answerWithoutPattern();
requireVerifiedTls(process.env);

const interrupts = new InterruptSource(exit);
process.on("SIGINT", () => interrupts.interrupt(exitCode.interrupted));
process.on("SIGTERM", () => interrupts.interrupt(exitCode.terminated));

/** The longest time that an exit after an interruption or a bug waits for a stalled reader of the output. */
const slowReaderMs = 1_000;
let outputClosed = false;
/**
 * Handles an output that can no longer be written: its reader has closed it (`| head`), or the disk is full. A drain stops as after a first
 * Ctrl-C, and a table just ends.
 */
function closeOutput(error: NodeJS.ErrnoException | null | undefined): void {
	if (!error || outputClosed) return;
	outputClosed = true;
	// If the run is already stopping, this is not a second request. Ctrl-C reaches every program of the pipe, and closing the terminal also
	// closes the output.
	if (interrupts.stoppedBy !== undefined) return;
	// If the terminal closes, a write may fail before SIGHUP arrives. Both are handled in the same way.
	if (error.code === "EIO" && process.stdout.isTTY) {
		interrupts.interrupt(exitCode.terminated);
		return;
	}
	const hasLeft = error.code === "EPIPE";
	if (!hasLeft) guardSink(streams.stderr).write(`error: cannot write the output: ${error.message}\n`);
	interrupts.interrupt(exitCode.stoppedEarly, { atOnce: hasLeft ? exitCode.done : exitCode.error });
}
process.stdout.on("error", closeOutput);
// There is no stream left to report this error on.
process.stderr.on("error", () => undefined);

// An error outside of every awaited promise is a bug. It is reported like any other error, and never as a bare stack trace.
process.on("uncaughtException", (error) => {
	const { lines, code } = describeError(error, process.argv.slice(2));
	interrupts.leave(code, () => {
		for (const line of lines) guardSink(streams.stderr).write(`${line}\n`);
	});
});

const turns = new TerminalTurns();
/** Writes to the terminal wait while a prompt or another program has it. */
function inTurn(stream: NodeJS.WriteStream, write: (text: string) => void): (text: string) => void {
	return stream.isTTY ? (text) => turns.write(() => write(text)) : write;
}

const streams: Streams = {
	stdout: {
		write: inTurn(process.stdout, (text) => void (outputClosed || process.stdout.write(text, closeOutput))),
		get columns() {
			return process.stdout.columns;
		},
	},
	stderr: { write: inTurn(process.stderr, (text) => void process.stderr.write(text)) },
	stdin: {
		isTerminal: isatty(0),
		async readLine(signal) {
			// Loading this module takes 10 ms of CPU, because it also handles keys and terminals. Most runs ask no question.
			const { createInterface } = await import("node:readline");
			const giveBack = isatty(0) ? await turns.take() : undefined;
			const reader = createInterface({ input: process.stdin, terminal: false });
			try {
				return await new Promise((resolve) => {
					reader.once("line", resolve);
					reader.once("close", () => resolve(undefined));
					signal.addEventListener("abort", () => resolve(undefined), { once: true });
				});
			} finally {
				reader.close();
				giveBack?.();
			}
		},
	},
};

const terminal = {
	// A getter, because the stream takes time to load and most runs read no input.
	get stdin() {
		return process.stdin;
	},
	stdout: process.stdout,
	stderr: process.stderr,
	isOutputFile: isFile(1),
	isErrorTerminal: isatty(2),
	turns,
};

async function runBeside(argv: readonly string[]): Promise<void> {
	const [{ spawn }, { isSea }] = await Promise.all([import("node:child_process"), import("node:sea")]);
	const program = isSea() ? [] : [...process.execArgv, process.argv[1] ?? ""];
	const child = spawn(process.execPath, [...program, ...argv], { stdio: "ignore", windowsHide: true });
	child.once("error", () => undefined);
	child.unref();
}

// Without top-level await, the bundle can be a script, whose compiled code can be cached.
void run(process.argv.slice(2), { streams, env: process.env, interrupts, terminal, runBeside }).then((code) => {
	// Idle connections and leftover timers must not keep the process alive, but written output must be flushed.
	process.exitCode = code;
	turns.flush();
	process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
});

function isFile(stream: number): boolean {
	try {
		return fstatSync(stream).isFile();
	} catch {
		// The stream is closed.
		return false;
	}
}

/** Exits immediately, except that a slow reader gets a short time to take the last output. */
function exit(code: ExitCode): void {
	turns.flush();
	if (process.stdout.writableLength === 0) process.exit(code);
	process.stdout.write("", () => process.exit(code));
	setTimeout(() => process.exit(code), slowReaderMs);
}
