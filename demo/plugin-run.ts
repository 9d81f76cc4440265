// Runs the shipped plugin as a process. On a terminal, the plugin gets the terminal, as if a person had started it. Otherwise its lines
// are printed as they come.
import { spawn, spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { createInterface } from "node:readline";
import { pluginCommand } from "./machine/plugin-launcher.ts";
import { boundToParent } from "./machine/process.ts";
import type { Narrator } from "./narrator.ts";

export interface PluginRun {
	/** The built plugin, or the shipped file. */
	readonly plugin: string;
	readonly args: readonly string[];
	/** The folder for its sockets, so that they are removed with it, even after a hard kill. */
	readonly dir: string;
	readonly kubeconfig: string;
	/** Ends the plugin when it aborts. */
	readonly signal: AbortSignal;
	readonly narrator: Narrator;
	/** The plugin has the terminal, and no other process writes there meanwhile. */
	readonly hasTerminal: boolean;
}

/** The time in which the plugin must give the terminal back. */
const patienceMs = 3_000;
const leaveScreen = "\u001b[?1049l\u001b[?25h";

/** Runs the plugin, and resolves with its exit code. */
export async function runPlugin(run: PluginRun): Promise<number> {
	const { plugin, args, dir, kubeconfig, signal, narrator, hasTerminal } = run;
	const [program, ...first] = pluginCommand(plugin);
	const bound = boundToParent(program, [...first, ...args]);
	const child = spawn(bound.command, bound.args, {
		stdio: hasTerminal ? "inherit" : ["ignore", "pipe", "pipe"],
		// Without a terminal, the plugin gets a session of its own, so Ctrl-C reaches only this process, which then ends the plugin. With a
		// terminal, the plugin gets the keys and the size from it.
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
