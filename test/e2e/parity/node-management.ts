// kubectl's own test of node management with a program in kubectl's place: which of its assertions held.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type CommandResult, startCommand } from "./running-command.ts";

export interface Assertion {
	/** Where it stands in the script. */
	readonly line: number;
	readonly text: string;
}

export interface Verdict extends Assertion {
	readonly holds: boolean;
}

export interface ScriptRun extends CommandResult {
	/** Those that it came to. */
	readonly assertions: readonly Verdict[];
	/** Whether it came to its end, rather than to a command that failed. */
	readonly isFinished: boolean;
}

/** It waits for the half minute that a pod has to end, and starts programs a hundred times: two minutes on a busy machine. */
export const lastsAtMostMs = 8 * 60_000;

/** What the script asserts, in its order: each once, for it has no loops. */
export function assertionsOf(module: string): readonly Assertion[] {
	return readFileSync(join(module, "test", "cmd", "node-management.sh"), "utf8")
		.split("\n")
		.map((line, index) => ({ line: index + 1, text: line.trim() }))
		.filter(({ text }) => text.startsWith("kube::test::"));
}

/** Runs it to its end, whatever fails: an assertion is written down, and only a command that fails by itself ends it. */
export async function runNodeManagement(options: {
	/** The folder of Kubernetes' module. */
	readonly module: string;
	readonly cluster: { readonly server: string; readonly kubeconfigPath: string };
	/** A folder for this run alone; made. */
	readonly dir: string;
	/** Programs of these folders go before others: the kubectl that is tested is in one of them. */
	readonly path: readonly string[];
}): Promise<ScriptRun> {
	const { cluster, dir, module } = options;
	mkdirSync(dir, { recursive: true });
	// The script sets its namespace in it.
	const kubeconfig = join(dir, "kubeconfig");
	copyFileSync(cluster.kubeconfigPath, kubeconfig);
	const record = join(dir, "record");
	writeFileSync(record, "");
	const runner = join(import.meta.dirname, "node-management.bash");
	const environment = {
		...process.env,
		HOME: dir,
		KUBECONFIG: kubeconfig,
		// Nobody is to find the cluster of a pod that this may run in.
		KUBERNETES_SERVICE_HOST: "",
		PATH: [...options.path, process.env["PATH"] ?? ""].join(delimiter),
		// The script colours what it says.
		TERM: "xterm",
		TMPDIR: dir,
	};
	const args = [runner, module, record, cluster.server];
	const result = await startCommand("bash", args, environment, lastsAtMostMs).finished;
	const lines = readFileSync(record, "utf8").trim().split("\n");
	const holds = new Map(lines.map((line) => [Number(line.split(" ")[1]), line.startsWith("passed")]));
	return {
		...result,
		isFinished: lines.at(-1) === "finished 0",
		assertions: assertionsOf(module).flatMap((assertion) => {
			const verdict = holds.get(assertion.line);
			return verdict === undefined ? [] : [{ ...assertion, holds: verdict }];
		}),
	};
}

/** Makes a folder with a kubectl that leaves draining, cordoning and uncordoning to kubectl-xpdb. `bin`: where both are. */
export function writeShim(dir: string, bin: string): void {
	mkdirSync(dir, { recursive: true });
	const path = join(dir, "kubectl");
	const lines = [
		"#!/bin/sh",
		"for argument; do",
		'\tcase "$argument" in',
		"\t-*) ;;",
		`\tdrain | cordon | uncordon) exec '${join(bin, "kubectl-xpdb")}' "$@" ;;`,
		"\t*) break ;;",
		"\tesac",
		"done",
		`exec '${join(bin, "kubectl")}' "$@"`,
	];
	writeFileSync(path, `${lines.join("\n")}\n`);
	chmodSync(path, 0o755);
}
