// Starts the built plugin as kubectl does, with the fleet's kubeconfig.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { eventually } from "./kubectl.ts";

export interface PluginResult {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
}

export interface PluginProcess extends Disposable {
	readonly child: ChildProcess;
	readonly finished: Promise<PluginResult>;
	/** Returns all output so far, both streams in order of arrival. */
	output(): string;
	/** Resolves when the process has stopped itself (SIGSTOP at a pause point). */
	asleep(): Promise<void>;
	/** Rejects with all output if the process ends first or after three minutes. */
	printed(text: string | RegExp): Promise<void>;
}

export interface PluginOptions {
	/** Whether to run at a lower priority, so that time-critical suites on other fleets go first. */
	readonly patient?: boolean;
	/** Whether to run the shipped program instead of the one with fail points. */
	readonly shipped?: boolean;
}

const printedWithinMs = 3 * 60_000;

export function startPlugin(
	args: readonly string[],
	environment: Readonly<Record<string, string>> = {},
	{ patient = false, shipped = false }: PluginOptions = {},
): PluginProcess {
	const { dir, kubeconfigPath } = sharedFleet();
	// The wrapper uses exec, so the child is the plugin itself.
	const [command, ...words] = shipped
		? [process.execPath, join(repositoryRoot, "dist", "kubectl-xpdb.js"), ...args]
		: [join(dir, "bin", "kubectl-xpdb"), ...args];
	const child = spawn(command, words, {
		env: { ...process.env, KUBECONFIG: kubeconfigPath, ...environment },
		stdio: ["ignore", "pipe", "pipe"],
	});
	if (patient && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
	let stdout = "";
	let stderr = "";
	let all = "";
	const listeners = new Set<() => void>();
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		stdout += text;
		all += text;
		for (const listener of listeners) listener();
	});
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		stderr += text;
		all += text;
		for (const listener of listeners) listener();
	});
	const finished = new Promise<PluginResult>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
	});
	return {
		child,
		finished,
		[Symbol.dispose]: () => void child.kill("SIGKILL"),
		output: () => all,
		asleep: () =>
			eventually("the plugin to stop itself", async () => {
				if (child.exitCode !== null) throw new Error(`The plugin ended with ${child.exitCode}:\n${all}`);
				// In stat, the state follows the process name, which is in brackets.
				const [, state] = /\) (\w)/.exec(readFileSync(`/proc/${child.pid}/stat`, "utf8")) ?? [];
				return state === "T";
			}),
		printed: (text) =>
			new Promise((resolve, reject) => {
				const look = () => {
					if (!(typeof text === "string" ? all.includes(text) : text.test(all))) return;
					clearTimeout(timer);
					listeners.delete(look);
					resolve();
				};
				// Fires before the test's own timeout, which would not show the output.
				const timer = setTimeout(() => {
					if (listeners.delete(look)) reject(new Error(`The plugin has not printed ${String(text)}:\n${all}`));
				}, printedWithinMs);
				listeners.add(look);
				look();
				void finished.then((result) => {
					look();
					clearTimeout(timer);
					if (listeners.delete(look))
						reject(new Error(`The plugin ended with ${result.code} and never printed ${String(text)}:\n${all}`));
				}, reject);
			}),
	};
}

export async function plugin(
	args: readonly string[],
	environment?: Readonly<Record<string, string>>,
	options?: PluginOptions,
): Promise<PluginResult> {
	return startPlugin(args, environment, options).finished;
}
