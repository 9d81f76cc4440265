// Runs a tool of node_modules/.bin, or any other program, with its output kept or shown.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { delimiter, join } from "node:path";
import { repositoryRoot } from "./repository-root.ts";
import { setSessionPriority } from "./session-priority.ts";

export interface CommandResult {
	/** 1 if the program was killed or not started. */
	readonly code: number;
	/** stdout and stderr in the order in which they came. Empty if they were shown. */
	readonly output: string;
	readonly elapsedMs: number;
}

/** Never rejects: a program that is not started gives code 1, with the reason as its output. */
export function runCommand(
	command: readonly [string, ...string[]],
	options: {
		readonly show?: boolean;
		readonly environment?: Readonly<Record<string, string>>;
		readonly isBackground?: boolean;
		/** The working folder. By default the root of the repository. */
		readonly folder?: string;
		/** Sends SIGTERM. The result still comes only when the program has ended. If aborted before, the program is not started. */
		readonly signal?: AbortSignal;
	} = {},
): Promise<CommandResult> {
	const [program, ...args] = command;
	if (options.signal?.aborted) {
		return Promise.resolve({ code: 1, output: `${program} was not started: interrupted before`, elapsedMs: 0 });
	}
	const startedAt = performance.now();
	return new Promise((done) => {
		const child = spawn(program, args, {
			// In a session of its own, the scheduler can put it behind all other sessions.
			...(options.isBackground && { detached: true }),
			cwd: options.folder ?? repositoryRoot,
			stdio: options.show ? "inherit" : ["ignore", "pipe", "pipe"],
			// Outside of npm's scripts, PATH has the machine's own Node first, and lacks our tools.
			env: {
				...process.env,
				...options.environment,
				PATH: join(repositoryRoot, "node_modules", ".bin") + delimiter + (process.env["PATH"] ?? ""),
			},
		});
		if (options.isBackground && child.pid !== undefined) {
			setPriority(child.pid, constants.priority.PRIORITY_LOW);
			setSessionPriority(child.pid, constants.priority.PRIORITY_LOW);
		}
		options.signal?.addEventListener("abort", () => child.kill("SIGTERM"), { once: true });
		let output = "";
		const keep = (chunk: Buffer) => {
			output += chunk.toString();
		};
		child.stdout?.on("data", keep);
		child.stderr?.on("data", keep);
		const finish = (code: number) => done({ code, output, elapsedMs: performance.now() - startedAt });
		child.on("error", (error) => {
			output += error.message;
			finish(1);
		});
		child.on("close", (code) => finish(code ?? 1));
	});
}

/** For example "0.4 s" or "1 min 12 s". */
export function formatDuration(ms: number): string {
	if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
	const seconds = Math.round(ms / 1000);
	return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
