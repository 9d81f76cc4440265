// Resolves a kubeconfig context and kubectl's global flags to a server and credentials.
import { posix, resolve } from "node:path";
import type { Cluster, User } from "@kubernetes/client-node";
import { oneLine } from "../../disruption/printable.ts";
import { quote, shorten } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { GlobalFlags } from "../flags/global-flags.ts";
import { nearest } from "../flags/nearest.ts";
import { KubeconfigError } from "../terminal/errors.ts";
import { connectionProblems } from "./connection-problems.ts";
import { environmentProxy } from "./environment-proxy.ts";
import { type ExecPlugin, readExecPlugin } from "./exec-plugin.ts";
import { readFileText } from "./file-text.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import { type KubeconfigEntry, text, textList } from "./kubeconfig-entry.ts";

export interface Connection {
	/** "" if none is chosen, for example inside a pod. */
	readonly context: string;
	readonly namespace: string;
	readonly server: string;
	/** In the form of client-node's KubeConfig, with absolute paths. */
	readonly cluster: Cluster;
	/** Without its exec plugin, which is in `exec`. */
	readonly user: User;
	readonly exec: ExecPlugin | undefined;
	/** Impersonation beyond the user name, which is in `user`. */
	readonly headers: Readonly<Record<string, string | readonly string[]>>;
	/** The HTTP proxy of the kubeconfig, or the HTTP or HTTPS proxy of the environment for this server. Others are in `cluster`. */
	readonly httpProxy: string | undefined;
	/** 0: the default of api-dialer.ts. */
	readonly requestTimeoutMs: number;
}

/** Throws KubeconfigError, mostly in kubectl's words, if a context, cluster or user does not exist or cannot be used. */
export function resolveConnection(
	kubeconfig: Kubeconfig,
	contextName: string | undefined,
	flags: GlobalFlags,
	env: NodeJS.ProcessEnv,
): Connection {
	const name = contextName ?? kubeconfig.currentContext;
	refuseSteeringNames({ context: name });
	if (name !== "" && !kubeconfig.contexts.has(name)) {
		throw contextName === undefined
			? new KubeconfigError(`Error in configuration: context was not found for specified context: ${shorten(name)}`)
			: unknownEntry("context", name, kubeconfig);
	}
	if (flags.cluster !== undefined && !kubeconfig.clusters.has(flags.cluster)) {
		throw unknownEntry("cluster", flags.cluster, kubeconfig);
	}
	if (flags.user !== undefined && !kubeconfig.users.has(flags.user)) {
		throw unknownEntry("auth info", flags.user, kubeconfig);
	}
	const isChosen = [name, flags.cluster, flags.user, flags.server].some(Boolean);
	const own = isChosen ? undefined : kubeconfig.ownCluster;
	const context = own?.context ?? kubeconfig.contexts.get(name);
	const clusterName = flags.cluster ?? text(context?.["cluster"]);
	const userName = flags.user ?? text(context?.["user"]);
	refuseSteeringNames({ cluster: clusterName, user: userName });
	const cluster = withClusterFlags(own?.cluster ?? kubeconfig.clusters.get(clusterName) ?? {}, flags);
	const user = withUserFlags(own?.user ?? kubeconfig.users.get(userName) ?? {}, flags);
	const headers = impersonationHeaders(user, flags);
	if (text(cluster["server"]) === "") {
		throw new KubeconfigError(
			name === ""
				? "error: no context is chosen: set KUBECONFIG, or use --kubeconfig, and --contexts or --context"
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
	// A proxy named in the kubeconfig takes precedence, even over NO_PROXY.
	const proxy = text(cluster["proxy-url"]) || environmentProxy(server, env) || "";
	// Over plain HTTP, no credentials are sent, only impersonation headers (client-go, DirectClientConfig.ClientConfig).
	const login = server.startsWith("http:") ? { as: user["as"] } : user;
	// Node's agent does not send an HTTPS proxy its name (SNI), by which such a proxy may choose its certificate. That of client-node does.
	const isOfAgent = /^http:/i.test(proxy) || (/^https:/i.test(proxy) && text(cluster["proxy-url"]) === "");
	return {
		context: name,
		namespace: flags.namespace ?? (text(context?.["namespace"]) || "default"),
		server,
		cluster: clusterForClientNode(cluster, server, isOfAgent ? "" : proxy),
		user: userForClientNode(login),
		exec: hasOwnLogin(login) ? undefined : readExecPlugin(login["exec"], cluster),
		headers,
		httpProxy: isOfAgent ? new URL(proxy).href : undefined,
		requestTimeoutMs: flags.requestTimeoutMs,
	};
}

/** Names appear in output and in commands to copy, so control characters are refused. kubectl accepts them. */
function refuseSteeringNames(names: Readonly<Record<string, string>>): void {
	for (const [what, name] of Object.entries(names)) {
		if (oneLine(name) === name) continue;
		throw new KubeconfigError(
			`error: the name of ${what} ${quote(name)} contains control characters: rename it in the kubeconfig`,
		);
	}
}

/** The message adds a similar name, or the missing files that may have contained the entry. */
export function unknownEntry(
	what: "context" | "cluster" | "auth info",
	name: string,
	{ skipped = [], ...kubeconfig }: Kubeconfig,
): KubeconfigError {
	const known = { context: kubeconfig.contexts, cluster: kubeconfig.clusters, "auth info": kubeconfig.users }[what];
	const near = nearest(name, [...known.keys()]);
	const files = skipped.length === 0 ? "" : ` (not found in KUBECONFIG: ${oneLine(skipped.join(", "))})`;
	const hint = near === undefined ? files : ` (did you mean ${near}?)`;
	return new KubeconfigError(`error: ${what} ${quote(name)} does not exist${hint}`);
}

/**
 * Returns the URL without doubled slashes, query and fragment, as client-go does. Without a scheme, HTTP is used only if there is no user,
 * no CA and no insecure-skip-tls-verify. client-go would also use it for a user without a certificate.
 */
function serverUrl(cluster: KubeconfigEntry, user: KubeconfigEntry): string {
	const given = text(cluster["server"]);
	const isUrl = /^[a-z][a-z\d+.-]*:\/\/[^/]/i.test(given);
	const isSecret =
		Object.keys(user).length > 0 ||
		["certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify"].some((field) => cluster[field]);
	const server = isUrl ? given : `${isSecret ? "https" : "http"}://${given}`;
	const url = URL.canParse(server) ? new URL(server) : undefined;
	if (!url || !/^https?:$/.test(url.protocol)) {
		throw new KubeconfigError(`error: the server ${quote(given)} is not a URL: write it as https://HOST:PORT`);
	}
	if (!isUrl && url.pathname !== "/") {
		throw new KubeconfigError(`error: host must be a URL or a host:port pair: ${quote(given)}`);
	}
	const path = posix.normalize(url.pathname);
	if (path === url.pathname && url.search === "" && url.hash === "") return server;
	url.pathname = path;
	url.search = "";
	url.hash = "";
	return url.href;
}

function withClusterFlags(cluster: KubeconfigEntry, flags: GlobalFlags): KubeconfigEntry {
	const changed: Record<string, unknown> = { ...cluster };
	if (flags.server !== undefined) changed["server"] = flags.server;
	if (flags.tlsServerName !== undefined) changed["tls-server-name"] = flags.tlsServerName;
	if (flags.certificateAuthority !== undefined) {
		delete changed["certificate-authority-data"];
		changed["certificate-authority"] = resolve(flags.certificateAuthority);
	}
	if (flags.insecureSkipTlsVerify) {
		delete changed["certificate-authority"];
		delete changed["certificate-authority-data"];
		changed["insecure-skip-tls-verify"] = true;
	}
	return changed;
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
		for (const field of ["exec", "auth-provider", "tokenFile", "token", "username", "password"]) delete changed[field];
	}
	if (flags.token !== undefined) changed["token"] = flags.token;
	if (flags.username !== undefined) changed["username"] = flags.username;
	if (flags.password !== undefined) changed["password"] = flags.password;
	if (flags.as !== undefined) changed["as"] = flags.as;
	return changed;
}

function clusterForClientNode(cluster: KubeconfigEntry, server: string, proxyUrl: string): Cluster {
	const isPlain = server.startsWith("http:");
	const ca = dataOrFile(cluster, "certificate-authority");
	return {
		name: "cluster",
		server,
		// client-node accepts http:// only with this option.
		skipTLSVerify: isPlain || cluster["insecure-skip-tls-verify"] === true,
		caData: isPlain ? "" : ca.data,
		caFile: isPlain ? "" : ca.file,
		tlsServerName: text(cluster["tls-server-name"]),
		// With socks5h, the proxy resolves the server's name, as in Go. Behind a bastion, only the proxy can.
		proxyUrl: proxyUrl.replace(/^socks5:/i, "socks5h:"),
	};
}

/** Whether the user has a login besides the exec plugin. Then the plugin does not run (client-go, exec.UpdateTransportConfig). */
function hasOwnLogin(user: KubeconfigEntry): boolean {
	const has = (field: string): boolean => text(user[field]) + text(user[`${field}-data`]) !== "";
	const hasCertificate = has("client-certificate") && has("client-key");
	return hasCertificate || ["token", "tokenFile", "username"].some((field) => text(user[field]) !== "");
}

/** client-node supports `tokenFile` only in an auth provider of its own. exec-credentials.ts runs exec plugins, so they are left out. */
function userForClientNode(user: KubeconfigEntry): User {
	const token = text(user["token"]);
	const file = text(user["tokenFile"]);
	const tokenFile = token === "" || readFileText(file).problem === undefined ? file : "";
	const provider = tokenFile === "" ? user["auth-provider"] : { name: "tokenFile", config: { tokenFile } };
	const cert = dataOrFile(user, "client-certificate");
	const hasCertificate = cert.data + cert.file !== "";
	const key = hasCertificate ? dataOrFile(user, "client-key") : { data: "", file: "" };
	const impersonateUser = text(user["as"]);
	return {
		name: "user",
		certData: cert.data,
		certFile: cert.file,
		keyData: key.data,
		keyFile: key.file,
		token: tokenFile === "" ? token : "",
		username: text(user["username"]),
		password: text(user["password"]),
		...(isRecord(provider) && { authProvider: provider }),
		// client-node would also send an empty name.
		...(impersonateUser !== "" && { impersonateUser }),
	};
}

function dataOrFile(
	entry: KubeconfigEntry,
	field: "certificate-authority" | "client-certificate" | "client-key",
): { readonly data: string; readonly file: string } {
	const data = text(entry[`${field}-data`]);
	return { data, file: data === "" ? text(entry[field]) : "" };
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

/** Keys may contain any character. In a header's name they are percent-encoded, as in client-go. */
function extraHeader(key: string): string {
	return `Impersonate-Extra-${encodeURIComponent(key.toWellFormed())}`;
}
