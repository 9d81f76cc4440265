// Runs a program on a pseudo-terminal, with access to its screen, keys, signals and exit.
import { spawn } from "@lydell/node-pty";
import { RecentOutput } from "./recent-output.ts";
import { TerminalEmulator } from "./terminal-emulator.ts";

export interface PseudoTerminalOptions {
	readonly columns?: number;
	readonly rows?: number;
	readonly env?: Readonly<Record<string, string>>;
	/** The timeout of each wait. */
	readonly patienceMs?: number;
	/** How many characters of the end `output()` has at least. Default: all. */
	readonly keptOutput?: number;
	/** Gets each chunk before the screen does. */
	readonly onData?: (data: string) => void;
}

export interface PseudoTerminal extends Disposable {
	readonly pid: number;
	readonly screen: TerminalEmulator;
	output(): string;
	press(keys: string): void;
	resize(columns: number, rows: number): void;
	/** Resolves when the screen contains this. Rejects if the program ends first or takes too long. */
	shows(text: string | RegExp): Promise<void>;
	/** Checks the condition after each write, and resolves when it holds. */
	until(isSo: () => boolean): Promise<void>;
	kill(signal: NodeJS.Signals): void;
	/** Closes the terminal, as closing its window does. */
	hangUp(): void;
	readonly ended: Promise<{ readonly exitCode: number; readonly signal: number }>;
}

export function startInTerminal(
	program: string,
	args: readonly string[],
	{ columns = 100, rows = 30, env = {}, patienceMs = 60_000, keptOutput, onData }: PseudoTerminalOptions = {},
): PseudoTerminal {
	const screen = new TerminalEmulator(columns, rows);
	const basis = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", LANG: "C.UTF-8", TZ: "UTC" };
	const terminal = spawn(program, [...args], {
		name: env["TERM"] ?? "xterm-256color",
		cols: columns,
		rows,
		env: { ...basis, ...env },
	});
	const output = new RecentOutput(keptOutput);
	let isOver = false;
	const listeners = new Set<() => void>();
	terminal.onData((data) => {
		onData?.(data);
		output.add(data);
		screen.write(data);
		for (const listener of listeners) listener();
	});
	const ended = new Promise<{ exitCode: number; signal: number }>((resolve) => {
		terminal.onExit(({ exitCode, signal = 0 }) => {
			isOver = true;
			resolve({ exitCode, signal });
			for (const listener of listeners) listener();
		});
	});
	const until = async (isSo: () => boolean): Promise<void> => {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const fail = (why: string): void => reject(new Error(`${why}:\n${screen.lines.join("\n")}`));
		const look = (): void => {
			if (isSo()) resolve();
			else if (isOver) fail("it ended before");
		};
		const timer = setTimeout(() => fail("it took too long"), patienceMs);
		listeners.add(look);
		look();
		try {
			await promise;
		} finally {
			clearTimeout(timer);
			listeners.delete(look);
		}
	};
	return {
		pid: terminal.pid,
		screen,
		output: () => output.text,
		press: (keys) => terminal.write(keys),
		resize(width, height) {
			screen.resize(width, height);
			terminal.resize(width, height);
		},
		until,
		shows: (text) => until(() => new RegExp(text).test(screen.lines.join("\n"))),
		kill: (signal) => terminal.kill(signal),
		hangUp: () => (terminal as unknown as { readonly destroy: () => void }).destroy(),
		ended,
		[Symbol.dispose]() {
			if (!isOver) terminal.kill("SIGKILL");
		},
	};
}
