// Runs the built plugin as a process. It gets the terminal if there is one. Otherwise, its lines are printed as they come.
import { spawn, spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { createInterface } from "node:readline";
import { pluginCommand, writePluginLauncher } from "./machine/plugin-launcher.ts";
import { boundToParent } from "./machine/process.ts";
import type { Narrator } from "./narrator.ts";

export interface PluginRun {
	/** The path of the bundle or of the shipped file. */
	readonly plugin: string;
	readonly args: readonly string[];
	/** The plugin's temporary folder, so that its sockets are removed with it even after SIGKILL. The plugin is also put into DIR/bin. */
	readonly dir: string;
	readonly kubeconfig: string;
	readonly signal: AbortSignal;
	readonly narrator: Pick<Narrator, "quote">;
	/** Whether the plugin has the terminal. No other process may write there meanwhile. */
	readonly hasTerminal: boolean;
}

/** How long the plugin may take to restore the terminal. */
const patienceMs = 3_000;
const leaveScreen = "\u001b[?1049l\u001b[?25h";

/** Runs of the plugin, one after the other. They must be ended. */
export class PluginRuns {
	readonly #over = new AbortController();
	#latest: Promise<unknown> = Promise.resolve();

	/** Resolves with the plugin's exit code, or 1 if a signal killed it. Does not start it if `signal` has aborted. */
	run(run: PluginRun): Promise<number> {
		const code = runPlugin({ ...run, signal: AbortSignal.any([run.signal, this.#over.signal]) });
		this.#latest = code.catch(() => undefined);
		return code;
	}

	/** Stops a run that still goes on, and resolves when its process has ended. If it has the terminal, it first gives that back. */
	async end(): Promise<void> {
		this.#over.abort();
		await this.#latest;
	}
}

async function runPlugin(run: PluginRun): Promise<number> {
	const { plugin, args, dir, kubeconfig, signal, narrator, hasTerminal } = run;
	signal.throwIfAborted();
	const bin = writePluginLauncher(dir, plugin);
	const [program, ...first] = pluginCommand(plugin);
	const bound = boundToParent(program, [...first, ...args]);
	const child = spawn(bound.command, bound.args, {
		stdio: hasTerminal ? "inherit" : ["ignore", "pipe", "pipe"],
		// Without a terminal, the plugin gets its own session, so that Ctrl-C reaches only this process. With one, it needs the terminal's keys
		// and size.
		detached: !hasTerminal,
		env: { ...process.env, KUBECONFIG: kubeconfig, TMPDIR: dir, PATH: [bin, process.env["PATH"]].join(delimiter) },
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
