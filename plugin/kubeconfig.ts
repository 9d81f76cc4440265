// Which cluster, with which credentials: KUBECONFIG's files merged as kubectl merges them, kubectl's global flags on top.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { parse } from "yaml";
import { parserProblem } from "../disruption/parser-problem.ts";
import { quote, shorten } from "../disruption/quote.ts";
import { KubeconfigError } from "./errors.ts";
import type { GlobalFlags } from "./global-flags.ts";

type Entry = Record<string, unknown>;

/** The merged files. */
export interface Kubeconfig {
	readonly clusters: ReadonlyMap<string, Entry>;
	readonly users: ReadonlyMap<string, Entry>;
	readonly contexts: ReadonlyMap<string, Entry>;
	readonly currentContext: string;
}

/** How to reach one cluster: what a client is made from. */
export interface Connection {
	/** The context's name; "" where there is no kubeconfig. */
	readonly context: string;
	readonly namespace: string;
	readonly server: string;
	/** A kubeconfig with this one context, as JSON, with absolute paths. */
	readonly kubeconfig: string;
	/** Impersonation beyond the user name, which client-node sets itself. */
	readonly headers: Readonly<Record<string, string | readonly string[]>>;
	/** 0: none. */
	readonly requestTimeoutMs: number;
}

/** Reads and merges the files. Throws KubeconfigError that names the file; of several files, those that do not exist are skipped. */
export function loadKubeconfig(flags: GlobalFlags, env: NodeJS.ProcessEnv): Kubeconfig {
	const merged = {
		clusters: new Map<string, Entry>(),
		users: new Map<string, Entry>(),
		contexts: new Map<string, Entry>(),
	};
	let currentContext = "";
	for (const file of kubeconfigFiles(flags, env)) {
		const content = readKubeconfig(file.path, file.required);
		if (!content) continue;
		// The first file that has a name wins, as in clientcmd's loader.
		for (const [kind, field] of [
			["clusters", "cluster"],
			["users", "user"],
			["contexts", "context"],
		] as const) {
			for (const [name, entry] of namedEntries(content, kind, field, file.path)) {
				if (!merged[kind].has(name)) merged[kind].set(name, entry);
			}
		}
		currentContext ||= text(content["current-context"]);
	}
	return { ...merged, currentContext };
}

/** The connection for a context, or for the current one; throws KubeconfigError in kubectl's words where it is not there. */
export function resolveConnection(
	kubeconfig: Kubeconfig,
	contextName: string | undefined,
	flags: GlobalFlags,
): Connection {
	const name = contextName ?? kubeconfig.currentContext;
	const context = kubeconfig.contexts.get(name);
	if (!context && name !== "") {
		throw new KubeconfigError(
			contextName === undefined
				? `error: current-context ${quote(name)} is not in the kubeconfig`
				: `Error in configuration: context was not found for specified context: ${shorten(name)}`,
		);
	}
	const clusterName = flags.cluster ?? text(context?.["cluster"]);
	const userName = flags.user ?? text(context?.["user"]);
	if (flags.cluster !== undefined && !kubeconfig.clusters.has(flags.cluster)) {
		throw new KubeconfigError(`error: cluster "${flags.cluster}" does not exist`);
	}
	if (flags.user !== undefined && !kubeconfig.users.has(flags.user)) {
		throw new KubeconfigError(`error: auth info "${flags.user}" does not exist`);
	}
	const cluster = withClusterFlags(kubeconfig.clusters.get(clusterName) ?? {}, flags);
	const user = withUserFlags(kubeconfig.users.get(userName) ?? {}, flags);
	const server = text(cluster["server"]);
	if (server === "") {
		throw new KubeconfigError(
			name === ""
				? "error: no context is chosen: set KUBECONFIG, or use --kubeconfig and --context"
				: `error: context ${quote(name)} names cluster ${quote(clusterName)}, which has no server in the kubeconfig`,
		);
	}
	if (!/^https?:$/.test(URL.canParse(server) ? new URL(server).protocol : "")) {
		throw new KubeconfigError(`error: the server ${quote(server)} is no URL: write it as https://HOST:PORT`);
	}
	return {
		context: name,
		namespace: flags.namespace ?? (text(context?.["namespace"]) || "default"),
		server,
		kubeconfig: JSON.stringify({
			clusters: [{ name: "cluster", cluster }],
			users: [{ name: "user", user }],
			contexts: [{ name: "context", context: { cluster: "cluster", user: "user" } }],
			"current-context": "context",
		}),
		headers: impersonationHeaders(user, flags),
		requestTimeoutMs: flags.requestTimeoutMs,
	};
}

interface KubeconfigFile {
	readonly path: string;
	readonly required: boolean;
}

function kubeconfigFiles(flags: GlobalFlags, env: NodeJS.ProcessEnv): readonly KubeconfigFile[] {
	if (flags.kubeconfig !== undefined) return [{ path: flags.kubeconfig, required: true }];
	const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
	if (listed.length > 0) return listed.map((path) => ({ path, required: false }));
	return [{ path: join(env["HOME"] ?? homedir(), ".kube", "config"), required: false }];
}

function readKubeconfig(path: string, required: boolean): Entry | undefined {
	let file: string;
	try {
		file = readFileSync(path, "utf8");
	} catch (error) {
		const code = error instanceof Error && "code" in error ? error.code : "";
		if (code === "ENOENT" && !required) return undefined;
		const why =
			code === "ENOENT" ? "no such file or directory" : code === "EACCES" ? "permission denied" : String(code);
		throw new KubeconfigError(`error: stat ${path}: ${why}`);
	}
	let content: unknown;
	try {
		// Tags that mean nothing to us are no reason to write to the terminal.
		content = parse(file, { logLevel: "error" });
	} catch (error) {
		throw new KubeconfigError(`error: error loading config file "${path}": ${parserProblem(error)}`);
	}
	// An empty file is an empty kubeconfig.
	if (content === null || content === undefined) return undefined;
	if (!isRecord(content))
		throw new KubeconfigError(`error: error loading config file "${path}": it is not a kubeconfig`);
	return content;
}

function namedEntries(
	content: Entry,
	kind: "clusters" | "users" | "contexts",
	field: "cluster" | "user" | "context",
	path: string,
): readonly (readonly [string, Entry])[] {
	const list: unknown = content[kind] ?? [];
	if (!Array.isArray(list))
		throw new KubeconfigError(`error: error loading config file "${path}": ${kind} is not a list`);
	return list.filter(isRecord).map((item: Entry) => {
		const entry = isRecord(item[field]) ? item[field] : {};
		return [text(item["name"]), withAbsolutePaths(entry, dirname(resolve(path)))] as const;
	});
}

/** Paths in a kubeconfig are relative to its own folder. */
function withAbsolutePaths(entry: Entry, folder: string): Entry {
	const absolute = { ...entry };
	for (const field of ["certificate-authority", "client-certificate", "client-key", "tokenFile"]) {
		const path = text(entry[field]);
		if (path !== "" && !isAbsolute(path)) absolute[field] = join(folder, path);
	}
	return absolute;
}

function withClusterFlags(cluster: Entry, flags: GlobalFlags): Entry {
	const changed: Entry = { ...cluster };
	if (flags.server !== undefined) changed["server"] = flags.server;
	if (flags.tlsServerName !== undefined) changed["tls-server-name"] = flags.tlsServerName;
	if (flags.certificateAuthority !== undefined) {
		delete changed["certificate-authority-data"];
		changed["certificate-authority"] = resolve(flags.certificateAuthority);
	}
	// client-node takes http:// only with this; there is no certificate to be checked anyway.
	if (flags.insecureSkipTlsVerify || text(changed["server"]).startsWith("http:")) {
		changed["insecure-skip-tls-verify"] = true;
		delete changed["certificate-authority"];
		delete changed["certificate-authority-data"];
	}
	return changed;
}

function withUserFlags(user: Entry, flags: GlobalFlags): Entry {
	const changed: Entry = { ...user };
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
	// client-node knows `token-file` and the auth provider's tokenFile, but not kubectl's own key for it.
	const tokenFile = text(changed["tokenFile"]);
	if (tokenFile !== "" && text(changed["token"]) === "") {
		changed["auth-provider"] = { name: "tokenFile", config: { tokenFile } };
	}
	return changed;
}

function impersonationHeaders(user: Entry, flags: GlobalFlags): Readonly<Record<string, string | readonly string[]>> {
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

function textList(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

function isRecord(value: unknown): value is Entry {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
