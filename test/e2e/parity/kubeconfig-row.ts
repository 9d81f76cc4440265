// Describes a kubeconfig that both programs read, and the file that rows are based on.
import { certificate, privateKey } from "../../support/sample-certificate.ts";

export interface KubeconfigRow {
	readonly name: string;
	/** In the order of KUBECONFIG. The first one is named "config". The files in `neighbours` are in the same folder. */
	readonly files: readonly (string | Uint8Array)[];
}

/** Parts of a file with one context "a", its cluster "one" and its user "u", in YAML's flow style. */
export interface FileParts {
	readonly cluster?: string;
	readonly user?: string;
	readonly context?: string;
	readonly top?: string;
}

/** Nothing listens there. A program that connects has accepted the kubeconfig. */
export const server = "https://127.0.0.1:1";

/** By default the user has a token, because kubectl asks users without credentials for a name. */
export function fileOf({ cluster = "", user = "token: abc", context = "", top = "" }: FileParts): string {
	const more = (text: string): string => (text === "" ? "" : `, ${text}`);
	return `current-context: a
clusters: [{name: one, cluster: {server: "${server}"${more(cluster)}}}]
users: [{name: u, user: {${user}}}]
contexts: [{name: a, context: {cluster: one, user: u${more(context)}}}]
${top}
`;
}

export function row(name: string, ...files: (FileParts | string | Uint8Array)[]): KubeconfigRow {
	return {
		name,
		files: files.map((file) => (typeof file === "string" || file instanceof Uint8Array ? file : fileOf(file))),
	};
}

/** Files in the folder of every row. `./login` creates the file "ran". */
export const neighbours: Readonly<Record<string, string>> = {
	"ca.crt": certificate,
	"client.crt": certificate,
	"client.key": privateKey,
	"not.pem": "hello",
	token: "from-file",
	login: `#!/bin/sh
touch "$(dirname "$0")/ran"
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}'
`,
};
