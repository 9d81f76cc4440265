// Defines and reads the flags of every command: xpdb's own, and kubectl's global flags. Some of kubectl's are ignored, and one is refused.
// kubectl accepts no flags before a plugin's name, so all of them come after it.
import { defaultAgentNamespace } from "../../disruption/agent-names.ts";
import type { FlagTable } from "./flag.ts";

export interface GlobalFlags {
	readonly kubeconfig: string | undefined;
	readonly context: string | undefined;
	/** xpdb's own: the contexts to work in, in parallel. */
	readonly contexts: readonly string[];
	/** xpdb's own: the namespace whose pods are agents. */
	readonly agentNamespace: string;
	/** xpdb's own: the ServiceAccount to authenticate to the agents as. */
	readonly agentAccount: string | undefined;
	readonly cluster: string | undefined;
	readonly user: string | undefined;
	readonly namespace: string | undefined;
	readonly server: string | undefined;
	readonly token: string | undefined;
	readonly username: string | undefined;
	readonly password: string | undefined;
	readonly as: string | undefined;
	readonly asUid: string | undefined;
	readonly asGroup: readonly string[];
	readonly asUserExtra: readonly string[];
	readonly certificateAuthority: string | undefined;
	readonly clientCertificate: string | undefined;
	readonly clientKey: string | undefined;
	readonly insecureSkipTlsVerify: boolean;
	readonly tlsServerName: string | undefined;
	readonly requestTimeoutMs: number;
	readonly matchServerVersion: boolean;
	readonly warningsAsErrors: boolean;
	readonly verbosity: number;
}

export const globalFlags: FlagTable = {
	contexts: { kind: "list", commas: true, describe: "Contexts to work in, side by side: a,b,c (instead of --context)" },
	context: { kind: "text", describe: "The name of the kubeconfig context to use" },
	"agent-namespace": {
		kind: "text",
		describe: `The namespace of the agents, in every context (default: ${defaultAgentNamespace})`,
	},
	"agent-account": {
		kind: "text",
		describe:
			"ServiceAccount in that namespace to authenticate as (default: xpdb-operator, or the only one for which you may request tokens)",
	},
	namespace: { kind: "text", short: "n", describe: "The namespace of the pods or budgets" },
	kubeconfig: { kind: "text", describe: "Path to the kubeconfig file" },
	cluster: { kind: "text", describe: "The name of the kubeconfig cluster to use" },
	user: { kind: "text", describe: "The name of the kubeconfig user to use" },
	server: { kind: "text", short: "s", describe: "The address and port of the Kubernetes API server" },
	token: { kind: "text", describe: "Bearer token for the API server" },
	username: { kind: "text", describe: "Username for basic authentication to the API server" },
	password: { kind: "text", describe: "Password for basic authentication to the API server" },
	as: { kind: "text", describe: "Username to impersonate" },
	"as-uid": { kind: "text", describe: "UID to impersonate" },
	"as-group": { kind: "list", describe: "Group to impersonate; may be repeated" },
	"as-user-extra": { kind: "list", describe: "User extras to impersonate; may be repeated" },
	"certificate-authority": { kind: "text", describe: "Path to a certificate file for the certificate authority" },
	"client-certificate": { kind: "text", describe: "Path to a client certificate file for TLS" },
	"client-key": { kind: "text", describe: "Path to a client key file for TLS" },
	"insecure-skip-tls-verify": { kind: "boolean", describe: "Do not check the server's certificate" },
	"tls-server-name": { kind: "text", describe: "Server name to use for checking the server's certificate" },
	"request-timeout": { kind: "timeout", describe: "Time limit for each request to an API server; 0: 65s" },
	"disable-compression": { kind: "boolean", describe: "Accepted and ignored: responses are never compressed" },
	"cache-dir": { kind: "text", describe: "Accepted and ignored: KUBECACHEDIR says where the plugin keeps its cache" },
	kuberc: { kind: "text", describe: "Accepted and ignored: kuberc preferences are for kubectl's own commands" },
	"log-flush-frequency": { kind: "duration", describe: "Accepted and ignored: the plugin logs without a buffer" },
	vmodule: { kind: "text", describe: "Accepted and ignored: -v applies to all parts of the plugin" },
	profile: { kind: "text", describe: "Accepted and ignored: the plugin writes no profile" },
	"profile-output": { kind: "text", describe: "Accepted and ignored: the plugin writes no profile" },
	"match-server-version": { kind: "boolean", describe: "Refused: kubectl xpdb has a version of its own" },
	"warnings-as-errors": { kind: "boolean", describe: "Fail with exit code 1 if an API server sends a warning" },
	v: {
		kind: "number",
		short: "v",
		describe: "Log level: 6 shows each request and call on stderr, 7 headers, 8 bodies, 9 also the stack of a bug",
	},
};

export function readGlobalFlags(values: Readonly<Record<string, unknown>>): GlobalFlags {
	return {
		kubeconfig: text(values["kubeconfig"]),
		context: text(values["context"]),
		contexts: list(values["contexts"]),
		agentNamespace: text(values["agent-namespace"]) ?? defaultAgentNamespace,
		agentAccount: text(values["agent-account"]),
		cluster: text(values["cluster"]),
		user: text(values["user"]),
		namespace: text(values["namespace"]),
		server: text(values["server"]),
		token: text(values["token"]),
		username: text(values["username"]),
		password: text(values["password"]),
		as: text(values["as"]),
		asUid: text(values["as-uid"]),
		asGroup: list(values["as-group"]),
		asUserExtra: list(values["as-user-extra"]),
		certificateAuthority: text(values["certificate-authority"]),
		clientCertificate: text(values["client-certificate"]),
		clientKey: text(values["client-key"]),
		insecureSkipTlsVerify: values["insecure-skip-tls-verify"] === true,
		tlsServerName: text(values["tls-server-name"]),
		requestTimeoutMs: typeof values["request-timeout"] === "number" ? values["request-timeout"] : 0,
		matchServerVersion: values["match-server-version"] === true,
		warningsAsErrors: values["warnings-as-errors"] === true,
		verbosity: typeof values["v"] === "number" ? values["v"] : 0,
	};
}

function text(value: unknown): string | undefined {
	return typeof value === "string" && value !== "" ? value : undefined;
}

function list(value: unknown): readonly string[] {
	return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
