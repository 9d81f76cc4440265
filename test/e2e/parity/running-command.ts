// Runs a program, such as kubectl or the plugin, as a script would.
import { spawn } from "node:child_process";

export interface CommandResult {
	/** As in a shell: 130 after SIGINT. */
	readonly code: number;
	readonly stdout: string;
	readonly stderr: string;
}

export interface RunningCommand {
	readonly finished: Promise<CommandResult>;
	/** Resolves when the text was printed to either stream. Rejects if the command ends without it. */
	printed(text: string): Promise<void>;
	kill(signal: NodeJS.Signals): void;
	/** Closes the output, as a reader such as `head` does when it ends. */
	stopReading(): void;
}

const signalNumbers: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
	SIGINT: 2,
	SIGKILL: 9,
	SIGPIPE: 13,
	SIGTERM: 15,
};
/** Longer than any command of a situation takes. A command that hangs is killed, so that the test shows its output. */
const lastsAtMostMs = 3 * 60_000;

export function startCommand(
	program: string,
	args: readonly string[],
	env: NodeJS.ProcessEnv,
	timeout = lastsAtMostMs,
): RunningCommand {
	const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"], timeout });
	const output = { stdout: "", stderr: "" };
	const listeners = new Set<() => void>();
	for (const stream of ["stdout", "stderr"] as const) {
		child[stream].setEncoding("utf8").on("data", (text: string) => {
			output[stream] += text;
			for (const listener of listeners) listener();
		});
	}
	const finished = new Promise<CommandResult>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code, signal) =>
			resolve({ code: code ?? 128 + (signalNumbers[signal ?? "SIGKILL"] ?? 0), ...output }),
		);
	});
	return {
		finished,
		kill: (signal) => void child.kill(signal),
		stopReading: () => void child.stdout.destroy(),
		printed: (text) =>
			new Promise((resolve, reject) => {
				const look = (): void => {
					if (!output.stdout.includes(text) && !output.stderr.includes(text)) return;
					listeners.delete(look);
					resolve();
				};
				listeners.add(look);
				look();
				void finished.then(() => {
					if (listeners.delete(look))
						reject(new Error(`It ended without "${text}":\n${output.stdout}${output.stderr}`));
				}, reject);
			}),
	};
}

/** Runs commands one after the other. `duringFirst` runs during the first one, because it changes the situation once. */
export async function runInOrder(
	commands: readonly (() => RunningCommand)[],
	duringFirst?: (command: RunningCommand) => Promise<void> | undefined,
): Promise<readonly CommandResult[]> {
	const results: CommandResult[] = [];
	for (const [index, start] of commands.entries()) {
		const command = start();
		const [result] = await Promise.all([command.finished, index === 0 ? duringFirst?.(command) : undefined]);
		results.push(result);
	}
	return results;
}
