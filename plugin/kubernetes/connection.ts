// Which cluster, with which credentials: a context of the kubeconfig, with kubectl's global flags on top.
import { resolve } from "node:path";
import { quote, shorten } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { GlobalFlags } from "../flags/global-flags.ts";
import { KubeconfigError } from "../terminal/errors.ts";
import { connectionProblems } from "./connection-problems.ts";
import { type ExecPlugin, readExecPlugin } from "./exec-plugin.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import { type KubeconfigEntry, text, textList } from "./kubeconfig-entry.ts";

/** How to reach one cluster: what a client is made from. */
export interface Connection {
	/** The context's name; "" where there is no kubeconfig. */
	readonly context: string;
	readonly namespace: string;
	readonly server: string;
	/** A kubeconfig with this one context, as JSON, with absolute paths. */
	readonly kubeconfig: string;
	/** Where the credentials come from a program. */
	readonly exec: ExecPlugin | undefined;
	/** Impersonation beyond the user name, which client-node sets itself. */
	readonly headers: Readonly<Record<string, string | readonly string[]>>;
	/** 0: none. */
	readonly requestTimeoutMs: number;
}

/** The connection for a context, or for the current one; throws KubeconfigError in kubectl's words where it is not there. */
export function resolveConnection(
	kubeconfig: Kubeconfig,
	contextName: string | undefined,
	flags: GlobalFlags,
): Connection {
	const name = contextName ?? kubeconfig.currentContext;
	if (name !== "" && !kubeconfig.contexts.has(name)) {
		throw new KubeconfigError(
			contextName === undefined
				? `Error in configuration: context was not found for specified context: ${shorten(name)}`
				: unknownContext(name),
		);
	}
	if (flags.cluster !== undefined && !kubeconfig.clusters.has(flags.cluster)) {
		throw new KubeconfigError(`error: cluster "${flags.cluster}" does not exist`);
	}
	if (flags.user !== undefined && !kubeconfig.users.has(flags.user)) {
		throw new KubeconfigError(`error: auth info "${flags.user}" does not exist`);
	}
	const isChosen = [name, flags.cluster, flags.user, flags.server].some(Boolean);
	const own = isChosen ? undefined : kubeconfig.ownCluster;
	const context = own?.context ?? kubeconfig.contexts.get(name);
	const clusterName = flags.cluster ?? text(context?.["cluster"]);
	const userName = flags.user ?? text(context?.["user"]);
	const cluster = withClusterFlags(own?.cluster ?? kubeconfig.clusters.get(clusterName) ?? {}, flags);
	const user = withUserFlags(own?.user ?? kubeconfig.users.get(userName) ?? {}, flags);
	const headers = impersonationHeaders(user, flags);
	if (text(cluster["server"]) === "") {
		throw new KubeconfigError(
			name === ""
				? "error: no context is chosen: set KUBECONFIG, or use --kubeconfig and --context"
				: `error: context ${quote(name)} names cluster ${quote(clusterName)}, which has no server in the kubeconfig`,
		);
	}
	const [problem, ...more] = connectionProblems({ clusterName, cluster, userName, user, headers });
	if (problem !== undefined) {
		throw new KubeconfigError(
			more.length === 0
				? `error: ${problem}`
				: `Error in configuration: \n${[problem, ...more].map((each) => `* ${each}`).join("\n")}`,
		);
	}
	const server = serverUrl(cluster, user);
	return {
		context: name,
		namespace: flags.namespace ?? (text(context?.["namespace"]) || "default"),
		server,
		kubeconfig: JSON.stringify({
			clusters: [{ name: "cluster", cluster: clusterForClientNode(cluster, server) }],
			users: [{ name: "user", user: userForClientNode(user) }],
			contexts: [{ name: "context", context: { cluster: "cluster", user: "user" } }],
			"current-context": "context",
		}),
		exec: readExecPlugin(user["exec"], cluster),
		headers,
		requestTimeoutMs: flags.requestTimeoutMs,
	};
}

export function unknownContext(name: string): string {
	return `error: context ${quote(name)} does not exist`;
}

/** Without a scheme it is http only where nothing has to be kept secret (client-go, rest.DefaultServerURL, looks at certificates alone). */
function serverUrl(cluster: KubeconfigEntry, user: KubeconfigEntry): string {
	const given = text(cluster["server"]);
	const isUrl = /^[a-z][a-z\d+.-]*:\/\/[^/]/i.test(given);
	const isSecret =
		Object.keys(user).length > 0 ||
		["certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify"].some((field) => cluster[field]);
	const server = isUrl ? given : `${isSecret ? "https" : "http"}://${given}`;
	const url = URL.canParse(server) ? new URL(server) : undefined;
	if (!url || !/^https?:$/.test(url.protocol)) {
		throw new KubeconfigError(`error: the server ${quote(given)} is no URL: write it as https://HOST:PORT`);
	}
	if (!isUrl && url.pathname !== "/") {
		throw new KubeconfigError(`error: host must be a URL or a host:port pair: ${quote(given)}`);
	}
	return server;
}

function withClusterFlags(cluster: KubeconfigEntry, flags: GlobalFlags): KubeconfigEntry {
	const changed: Record<string, unknown> = { ...cluster };
	if (flags.server !== undefined) changed["server"] = flags.server;
	if (flags.tlsServerName !== undefined) changed["tls-server-name"] = flags.tlsServerName;
	if (flags.certificateAuthority !== undefined) {
		delete changed["certificate-authority-data"];
		changed["certificate-authority"] = resolve(flags.certificateAuthority);
	}
	return flags.insecureSkipTlsVerify ? unverified(changed) : changed;
}

function unverified(cluster: KubeconfigEntry): KubeconfigEntry {
	return {
		...without(cluster, "certificate-authority", "certificate-authority-data"),
		"insecure-skip-tls-verify": true,
	};
}

function without(entry: KubeconfigEntry, ...fields: readonly string[]): KubeconfigEntry {
	return Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.includes(field)));
}

function withUserFlags(user: KubeconfigEntry, flags: GlobalFlags): KubeconfigEntry {
	const changed: Record<string, unknown> = { ...user };
	if (flags.clientCertificate !== undefined) {
		delete changed["client-certificate-data"];
		changed["client-certificate"] = resolve(flags.clientCertificate);
	}
	if (flags.clientKey !== undefined) {
		delete changed["client-key-data"];
		changed["client-key"] = resolve(flags.clientKey);
	}
	if (flags.token !== undefined || flags.username !== undefined) {
		// A token or a password given by hand replaces every other way in.
		for (const field of ["exec", "auth-provider", "tokenFile", "token", "username", "password"]) delete changed[field];
	}
	if (flags.token !== undefined) changed["token"] = flags.token;
	if (flags.username !== undefined) changed["username"] = flags.username;
	if (flags.password !== undefined) changed["password"] = flags.password;
	if (flags.as !== undefined) changed["as"] = flags.as;
	return changed;
}

/** It takes http:// only with this; there is no certificate to be checked anyway. */
function clusterForClientNode(cluster: KubeconfigEntry, server: string): KubeconfigEntry {
	const changed = { ...cluster, server };
	return server.startsWith("http:") ? unverified(changed) : changed;
}

/** It knows `token-file` and the auth provider's tokenFile, but not kubectl's own key for it; plugins are ours (exec-credentials.ts). */
function userForClientNode(user: KubeconfigEntry): KubeconfigEntry {
	const tokenFile = text(user["tokenFile"]);
	if (tokenFile === "") return without(user, "exec");
	return { ...without(user, "exec", "token"), "auth-provider": { name: "tokenFile", config: { tokenFile } } };
}

function impersonationHeaders(
	user: KubeconfigEntry,
	flags: GlobalFlags,
): Readonly<Record<string, string | readonly string[]>> {
	const headers: Record<string, string | string[]> = {};
	const uid = flags.asUid ?? text(user["as-uid"]);
	if (uid !== "") headers["Impersonate-Uid"] = uid;
	const groups = flags.asGroup.length > 0 ? [...flags.asGroup] : textList(user["as-groups"]);
	if (groups.length > 0) headers["Impersonate-Group"] = groups;
	const extra = isRecord(user["as-user-extra"]) ? user["as-user-extra"] : {};
	for (const [key, values] of Object.entries(extra)) headers[extraHeader(key)] = textList(values);
	for (const pair of flags.asUserExtra) {
		const [key = "", ...value] = pair.split("=");
		const header = extraHeader(key);
		headers[header] = [...textList(headers[header]), value.join("=")];
	}
	return headers;
}

/** Keys may hold any character; in a header's name they are percent-encoded, as client-go does. */
function extraHeader(key: string): string {
	return `Impersonate-Extra-${encodeURIComponent(key.toWellFormed())}`;
}
