// Makes a kubeconfig whose user logs in with a program, as users of most clouds do.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { sharedFleet } from "../controlplane/shared-fleet.ts";

interface KubeconfigDocument {
	readonly contexts: readonly { readonly name: string; readonly context: { readonly user: string } }[];
	readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, string>> }[];
}

const apiVersion = "client.authentication.k8s.io/v1";

/** `script` is a shell script whose $1 is the path of an ExecCredential of the context's user. Disposal deletes the kubeconfig. */
export function kubeconfigWithLogin(context: string, script: string): Disposable & { readonly path: string } {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-login-"));
	const path = join(folder, "kubeconfig");
	const document = parse(readFileSync(sharedFleet().kubeconfigPath, "utf8")) as KubeconfigDocument;
	const login = document.contexts.find(({ name }) => name === context)?.context.user;
	const user = document.users.find(({ name }) => name === login)?.user;
	const decode = (field: string): string => Buffer.from(user?.[field] ?? "", "base64").toString();
	const status = {
		clientCertificateData: decode("client-certificate-data"),
		clientKeyData: decode("client-key-data"),
	};
	const credential = join(folder, "credential.json");
	writeFileSync(credential, JSON.stringify({ kind: "ExecCredential", apiVersion, status }), { mode: 0o600 });
	const exec = {
		apiVersion,
		interactiveMode: "IfAvailable",
		command: "sh",
		args: ["-c", script, "login", credential],
	};
	const users = document.users.map((entry) => (entry.name === login ? { name: entry.name, user: { exec } } : entry));
	writeFileSync(path, stringify({ ...document, users }), { mode: 0o600 });
	return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}
