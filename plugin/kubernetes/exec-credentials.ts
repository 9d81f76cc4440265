// The credentials that an exec plugin gives, asked for as kubectl does (client-go, plugin/pkg/client/auth/exec). Instead of client-node's
// ExecAuth: that keeps what a plugin says to itself, so that a login that waits for a person waits in silence; it sets no
// KUBERNETES_EXEC_INFO, knows no interactiveMode, and fails with a TypeError at an answer without a status.
import { isRecord } from "../../disruption/record.ts";
import type { ExecPlugin } from "./exec-plugin.ts";
import { text } from "./kubeconfig-entry.ts";

export interface ExecCredential {
	readonly token: string;
	readonly cert: string;
	readonly key: string;
	/** In ms since the epoch; undefined: it holds for the whole run. */
	readonly expiresAt: number | undefined;
}

export interface ExecCredentials {
	/** Runs the plugin where there is no credential that still holds. Rejects with what went wrong, in kubectl's words. */
	current(): Promise<ExecCredential>;
}

export function createExecCredentials(plugin: ExecPlugin): ExecCredentials {
	let known: ExecCredential | undefined;
	return {
		async current() {
			if (known && (known.expiresAt === undefined || Date.now() < known.expiresAt)) return known;
			try {
				known = readCredential(await run(plugin), plugin);
			} catch (error) {
				throw new Error(`getting credentials: ${error instanceof Error ? error.message : String(error)}`, {
					cause: error,
				});
			}
			return known;
		},
	};
}

async function run(plugin: ExecPlugin): Promise<string> {
	const { command, args, env, apiVersion, interactiveMode, cluster, installHint } = plugin;
	const isTerminal = process.stdin.isTTY;
	if (interactiveMode === "Always" && !isTerminal) {
		throw new Error("exec plugin cannot support interactive mode: standard input is not a terminal");
	}
	const interactive = interactiveMode !== "Never" && isTerminal;
	const info = { kind: "ExecCredential", apiVersion, spec: { ...(cluster && { cluster }), interactive } };
	// Takes its time to load, and most kubeconfigs name no program.
	const { spawn } = await import("node:child_process");
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, {
			env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
			// Its questions and complaints are for whoever sits there.
			stdio: [interactive ? "inherit" : "ignore", "pipe", "inherit"],
		});
		let output = "";
		child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
			output += chunk;
		});
		child.once("error", (error) => {
			const isMissing = "code" in error && error.code === "ENOENT";
			const hint = installHint === "" ? "" : `\n\n${installHint}`;
			reject(new Error(isMissing ? `exec: executable ${command} not found${hint}` : `exec: ${error.message}`));
		});
		child.once("close", (code, signal) => {
			if (code === 0) resolve(output);
			else reject(new Error(`exec: executable ${command} failed with ${signal ?? `exit code ${code}`}`));
		});
	});
}

function readCredential(output: string, { command, apiVersion }: ExecPlugin): ExecCredential {
	let answer: unknown;
	try {
		answer = JSON.parse(output);
	} catch {
		throw new Error(`decoding stdout of ${command}: it is not JSON`);
	}
	const given = isRecord(answer) ? answer : {};
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
	const expiresAt = Date.parse(text(status["expirationTimestamp"]));
	return { token, cert, key, expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt };
}
