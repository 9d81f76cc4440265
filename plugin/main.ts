// kubectl xpdb: the process around run(): streams, signals, exit.
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

/** Who has gone to sleep over our output is not waited for longer than this after a second Ctrl-C. */
const slowReaderMs = 1_000;
let outputClosed = false;
/** Who read our output has left (`| head`), or the disk is full: a drain stops as at a first Ctrl-C, a table just ends. */
function closeOutput(error: NodeJS.ErrnoException | null | undefined): void {
	if (!error || outputClosed) return;
	outputClosed = true;
	// Who stops it already, with a Ctrl-C for all programs of the pipe or by closing the terminal, has not asked twice.
	if (interrupts.stoppedBy !== undefined) return;
	// What is written may notice sooner than SIGHUP comes that the terminal has gone away: both mean the same.
	if (error.code === "EIO" && process.stdout.isTTY) {
		interrupts.interrupt(exitCode.terminated);
		return;
	}
	const hasLeft = error.code === "EPIPE";
	if (!hasLeft) guardSink(streams.stderr).write(`error: cannot write the output: ${error.message}\n`);
	interrupts.interrupt(exitCode.stoppedEarly, { atOnce: hasLeft ? exitCode.done : exitCode.error });
}
process.stdout.on("error", closeOutput);
// Nobody is left to be told.
process.stderr.on("error", () => undefined);

// A bug outside of every promise that somebody waits for: told like any other, never as a bare stack.
process.on("uncaughtException", (error) => {
	const { lines, code } = describeError(error, process.argv.slice(2));
	interrupts.leave(code, () => {
		for (const line of lines) guardSink(streams.stderr).write(`${line}\n`);
	});
});

const turns = new TerminalTurns();
/** What goes to the terminal waits while somebody else has it. */
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
			// Keys and terminals take it 10 ms of CPU to load, and most calls ask nobody.
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
	// Most calls read nothing, and a stream takes its time to load.
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

// Without a top-level await, so that it can be a script, whose compiled code is kept.
void run(process.argv.slice(2), { streams, env: process.env, interrupts, terminal, runBeside }).then((code) => {
	// What is still open (idle connections, timers of waits that are over) must not keep the process; what was written must.
	process.exitCode = code;
	turns.flush();
	process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
});

function isFile(stream: number): boolean {
	try {
		return fstatSync(stream).isFile();
	} catch {
		// Closed.
		return false;
	}
}

/** Leaves at once, but for a last line that a slow reader has not taken yet. */
function exit(code: ExitCode): void {
	turns.flush();
	if (process.stdout.writableLength === 0) process.exit(code);
	process.stdout.write("", () => process.exit(code));
	setTimeout(() => process.exit(code), slowReaderMs);
}
