// The shipped plugin as a process, its lines told as they come.
import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { createInterface } from "node:readline";
import { boundToParent } from "./machine/process.ts";
import type { Narrator } from "./narrator.ts";

export interface PluginRun {
	/** The built plugin. */
	readonly plugin: string;
	readonly args: readonly string[];
	/** For its sockets: gone with the folder, even after a hard kill. */
	readonly dir: string;
	readonly kubeconfig: string;
	/** Kills it. */
	readonly signal: AbortSignal;
	readonly narrator: Narrator;
}

/** Resolves with its exit code. */
export async function runPlugin({ plugin, args, dir, kubeconfig, signal, narrator }: PluginRun): Promise<number> {
	const bound = boundToParent(process.execPath, [plugin, ...args]);
	const child = spawn(bound.command, bound.args, {
		stdio: ["ignore", "pipe", "pipe"],
		// An own session: a Ctrl-C in the terminal is ours to pass on.
		detached: true,
		env: { ...process.env, KUBECONFIG: kubeconfig, TMPDIR: dir, PATH: [dir, process.env["PATH"]].join(delimiter) },
	});
	const kill = (): void => void child.kill("SIGKILL");
	signal.addEventListener("abort", kill, { once: true });
	for (const stream of [child.stdout, child.stderr]) {
		createInterface({ input: stream }).on("line", (line) => narrator.quote(line));
	}
	try {
		return await new Promise((resolve, reject) => {
			child.once("error", reject);
			child.once("close", (code) => resolve(code ?? 1));
		});
	} finally {
		signal.removeEventListener("abort", kill);
	}
}
