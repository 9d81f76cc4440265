// The shipped plugin as a process: on a terminal it has that, as a person who starts it there; else its lines are told as they come.
import { spawn, spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { createInterface } from "node:readline";
import { pluginCommand } from "./machine/plugin-launcher.ts";
import { boundToParent } from "./machine/process.ts";
import type { Narrator } from "./narrator.ts";

export interface PluginRun {
	/** The built plugin, or the file that is shipped. */
	readonly plugin: string;
	readonly args: readonly string[];
	/** For its sockets: gone with the folder, even after a hard kill. */
	readonly dir: string;
	readonly kubeconfig: string;
	/** Ends it. */
	readonly signal: AbortSignal;
	readonly narrator: Narrator;
	/** It has the terminal, and nobody else writes there meanwhile. */
	readonly hasTerminal: boolean;
}

/** For giving the terminal back. */
const patienceMs = 3_000;
const leaveScreen = "\u001b[?1049l\u001b[?25h";

/** Resolves with its exit code. */
export async function runPlugin(run: PluginRun): Promise<number> {
	const { plugin, args, dir, kubeconfig, signal, narrator, hasTerminal } = run;
	const [program, ...first] = pluginCommand(plugin);
	const bound = boundToParent(program, [...first, ...args]);
	const child = spawn(bound.command, bound.args, {
		stdio: hasTerminal ? "inherit" : ["ignore", "pipe", "pipe"],
		// An own session: a Ctrl-C in the terminal is ours to pass on. Who has the terminal is told by it, also of its size.
		detached: !hasTerminal,
		env: { ...process.env, KUBECONFIG: kubeconfig, TMPDIR: dir, PATH: [dir, process.env["PATH"]].join(delimiter) },
	});
	let late: NodeJS.Timeout | undefined;
	const kill = (): void => {
		if (!hasTerminal) return void child.kill("SIGKILL");
		child.kill("SIGTERM");
		late = setTimeout(() => {
			child.kill("SIGKILL");
			spawnSync("stty", ["sane"], { stdio: ["inherit", "ignore", "ignore"] });
			process.stdout.write(leaveScreen);
		}, patienceMs);
	};
	signal.addEventListener("abort", kill, { once: true });
	for (const stream of [child.stdout, child.stderr]) {
		if (stream) createInterface({ input: stream }).on("line", (line) => narrator.quote(line));
	}
	try {
		return await new Promise((resolve, reject) => {
			child.once("error", reject);
			child.once("close", (code) => resolve(code ?? 1));
		});
	} finally {
		clearTimeout(late);
		signal.removeEventListener("abort", kill);
	}
}
