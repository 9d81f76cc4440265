// Runs kubectl's own test of node management with any program as kubectl, and returns which assertions held.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type CommandResult, startCommand } from "./running-command.ts";

export interface Assertion {
	/** In the script. */
	readonly line: number;
	readonly text: string;
}

export interface Verdict extends Assertion {
	readonly holds: boolean;
}

export interface ScriptRun extends CommandResult {
	/** The assertions that were reached. */
	readonly assertions: readonly Verdict[];
	/** Whether the script reached its end. */
	readonly isFinished: boolean;
}

/** The script takes two minutes on a busy machine: it waits for a grace period of half a minute and starts a hundred programs. */
export const lastsAtMostMs = 8 * 60_000;

/** The script has no loops, so each assertion runs once. */
export function assertionsOf(module: string): readonly Assertion[] {
	return readFileSync(join(module, "test", "cmd", "node-management.sh"), "utf8")
		.split("\n")
		.map((line, index) => ({ line: index + 1, text: line.trim() }))
		.filter(({ text }) => text.startsWith("kube::test::"));
}

/** Runs the script. A failed assertion is recorded and does not end the script, but any other failing command does. */
export async function runNodeManagement(options: {
	/** The folder of the module k8s.io/kubernetes. */
	readonly module: string;
	readonly cluster: { readonly server: string; readonly kubeconfigPath: string };
	/** A folder for this run. Created if it does not exist. */
	readonly dir: string;
	/** These folders come first on the PATH. One contains the kubectl under test. */
	readonly path: readonly string[];
}): Promise<ScriptRun> {
	const { cluster, dir, module } = options;
	mkdirSync(dir, { recursive: true });
	// The script sets its namespace in this copy.
	const kubeconfig = join(dir, "kubeconfig");
	copyFileSync(cluster.kubeconfigPath, kubeconfig);
	const record = join(dir, "record");
	writeFileSync(record, "");
	const runner = join(import.meta.dirname, "node-management.bash");
	const environment = {
		...process.env,
		HOME: dir,
		KUBECONFIG: kubeconfig,
		// Otherwise, programs could use the cluster in whose pod the test runs.
		KUBERNETES_SERVICE_HOST: "",
		PATH: [...options.path, process.env["PATH"] ?? ""].join(delimiter),
		// The script colours its output.
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

/** Creates a kubectl in `dir` that runs kubectl-xpdb for drain, cordon and uncordon. Both programs are in `bin`. */
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
