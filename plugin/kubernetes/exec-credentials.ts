// Runs an exec plugin for credentials, as kubectl does (client-go, plugin/pkg/client/auth/exec). client-node's ExecAuth hides what a plugin
// prints, so a login that waits for the user would wait in silence.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { parserProblem } from "../../disruption/parser-problem.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { ExecPlugin } from "./exec-plugin.ts";
import { type KubeconfigEntry, text } from "./kubeconfig-entry.ts";
import { FieldError, readCredentialFields } from "./kubeconfig-fields.ts";
import { readYamlDocument } from "./yaml-document.ts";

export interface ExecCredential {
	readonly token: string;
	readonly cert: string;
	readonly key: string;
	/** In ms since the epoch. Undefined if it does not expire. */
	readonly expiresAt: number | undefined;
}

export interface LoginSurroundings {
	/** Receives the stderr of a plugin that has no terminal. */
	readonly complain: (text: string) => void;
	readonly stop: AbortSignal;
}

export interface LoginRunner {
	mayAsk(plugin: ExecPlugin): boolean;
	run(plugin: ExecPlugin, surroundings: LoginSurroundings): Promise<ExecCredential>;
}

export const loginRunner: LoginRunner = {
	mayAsk,
	run: async (plugin, surroundings) => readCredential(await run(plugin, surroundings), plugin),
};

function mayAsk({ interactiveMode }: ExecPlugin): boolean {
	if (!process.stdin.isTTY) return false;
	return interactiveMode !== "Never";
}

export function execInfo(plugin: ExecPlugin): string {
	const { apiVersion, cluster } = plugin;
	const spec = { ...(cluster && { cluster }), interactive: mayAsk(plugin) };
	return JSON.stringify({ kind: "ExecCredential", apiVersion, spec });
}

/** How long a stopped plugin may take to restore the terminal. */
const endsWithinMs = 1_000;

async function run(plugin: ExecPlugin, { complain, stop }: LoginSurroundings): Promise<Buffer> {
	const { command, args, env, interactiveMode, installHint } = plugin;
	if (interactiveMode === "Always" && !process.stdin.isTTY) {
		throw new Error("exec plugin cannot support interactive mode: standard input is not a terminal");
	}
	const program = findProgram(plugin);
	const missing = `exec: executable ${command} not found${installHint === "" ? "" : `\n\n${installHint}`}`;
	if (program === undefined) throw new Error(missing);
	// Imported only here: it loads slowly, and most kubeconfigs have no exec plugin.
	const { spawn } = await import("node:child_process");
	return new Promise((resolve, reject) => {
		const child = spawn(program, args, {
			env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: execInfo(plugin) },
			signal: stop,
			stdio: mayAsk(plugin) ? ["inherit", "pipe", "inherit"] : ["ignore", "pipe", "pipe"],
		});
		child.stderr?.setEncoding("utf8").on("data", complain);
		const output: Buffer[] = [];
		child.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
		child.once("error", (error) => {
			const isMissing = "code" in error && error.code === "ENOENT";
			const end = (): void => reject(new Error(isMissing ? missing : `exec: ${error.message}`));
			if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
				end();
				return;
			}
			// The stopped plugin may still read from the terminal or restore its echo, so wait until it exits.
			child.once("exit", end);
			setTimeout(() => child.kill("SIGKILL"), endsWithinMs).unref();
		});
		child.once("close", (code, signal) => {
			if (code === 0) resolve(Buffer.concat(output));
			else reject(new Error(`exec: executable ${command} failed with ${signal ?? `exit code ${code}`}`));
		});
	});
}

/**
 * If the kubeconfig sets a PATH for the plugin, searches our own PATH, as kubectl does: Node would search the plugin's. Returns undefined
 * if nothing is found.
 */
function findProgram({ command, env }: ExecPlugin): string | undefined {
	const isWindows = process.platform === "win32";
	const hasPath = Object.keys(env).some((name) => (isWindows ? name.toUpperCase() : name) === "PATH");
	if (!hasPath || command.includes("/") || command.includes(sep)) return command;
	const folders = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
	const endings = isWindows ? ["", ".exe", ".com"] : [""];
	return folders.flatMap((folder) => endings.map((ending) => join(folder, command + ending))).find(isProgram);
}

function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

function readCredential(output: Buffer, { command, apiVersion }: ExecPlugin): ExecCredential {
	const unreadable = (why: string): Error => new Error(`decoding stdout of ${command}: ${why}`);
	let answer: unknown;
	try {
		answer = /^\s*\{/.test(output.toString("latin1")) ? JSON.parse(output.toString()) : readYamlDocument(output);
	} catch (error) {
		throw unreadable(`it is neither JSON nor YAML: ${parserProblem(error)}`);
	}
	if (!isRecord(answer)) throw unreadable("it is not an ExecCredential");
	const given = readFields(answer, unreadable);
	if ((given["kind"] || "ExecCredential") !== "ExecCredential") {
		throw unreadable(`its kind is ${quote(given["kind"])}, not "ExecCredential"`);
	}
	if (given["apiVersion"] !== apiVersion) {
		throw new Error(
			`exec plugin is configured to use API version ${apiVersion}, plugin returned version ${text(given["apiVersion"])}`,
		);
	}
	const status = given["status"];
	if (!isRecord(status)) throw new Error("exec plugin didn't return a status field");
	const token = text(status["token"]);
	const cert = text(status["clientCertificateData"]);
	const key = text(status["clientKeyData"]);
	if (token === "" && cert === "" && key === "") throw new Error("exec plugin didn't return a token or cert/key pair");
	if ((cert === "") !== (key === "")) throw new Error("exec plugin returned only certificate or key, not both");
	const expiration = status["expirationTimestamp"];
	if (expiration === undefined) return { token, cert, key, expiresAt: undefined };
	const expiresAt = /^\d{4}-\d\d-\d\dT/.test(text(expiration)) ? Date.parse(text(expiration)) : Number.NaN;
	if (Number.isNaN(expiresAt)) throw unreadable(`status.expirationTimestamp ${quote(expiration)} is not a time`);
	return { token, cert, key, expiresAt };
}

function readFields(answer: Record<string, unknown>, unreadable: (why: string) => Error): KubeconfigEntry {
	try {
		return readCredentialFields(answer);
	} catch (error) {
		if (error instanceof FieldError) throw unreadable(error.message);
		throw error;
	}
}
