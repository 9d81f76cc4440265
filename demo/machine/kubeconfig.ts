import { writeFileSync } from "node:fs";
import { stringify } from "yaml";
import type { KeyPair } from "./certificates.ts";

export type KubeconfigEntry = {
	readonly context: string;
	readonly cluster: string;
	readonly server: string;
	readonly authority: string;
	readonly user: string;
	/** A client certificate, or the path of a token file, which clients read again when it changes. */
	readonly credentials: KeyPair | { readonly tokenFile: string };
};

/** Writes a kubeconfig with embedded certificates and keys. The first entry is the current context. */
export function writeKubeconfig(path: string, entries: readonly KubeconfigEntry[]): void {
	const clusters = new Map(
		entries.map((entry) => [
			entry.cluster,
			{ server: entry.server, "certificate-authority-data": base64(entry.authority) },
		]),
	);
	const document = {
		apiVersion: "v1",
		kind: "Config",
		"current-context": entries[0]?.context ?? "",
		clusters: [...clusters].map(([name, cluster]) => ({ name, cluster })),
		users: entries.map((entry) => ({ name: `${entry.cluster}-${entry.user}`, user: userOf(entry) })),
		contexts: entries.map((entry) => ({
			name: entry.context,
			context: { cluster: entry.cluster, user: `${entry.cluster}-${entry.user}` },
		})),
	};
	writeFileSync(path, stringify(document), { mode: 0o600 });
}

function userOf(entry: KubeconfigEntry): Record<string, string> {
	const { credentials } = entry;
	return "tokenFile" in credentials
		? { tokenFile: credentials.tokenFile }
		: {
				"client-certificate-data": base64(credentials.certificate),
				"client-key-data": base64(credentials.key),
			};
}

function base64(text: string): string {
	return Buffer.from(text).toString("base64");
}
