// The kubeconfig: KUBECONFIG's files merged as kubectl merges them. client-node's loadFromFile() and mergeConfig() throw at a name that two
// files have and at one broken entry, know neither tokenFile nor as-groups, and take 230 ms of CPU to load before anything can be said.
import { existsSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { parse } from "yaml";
import { parserProblem } from "../../disruption/parser-problem.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { GlobalFlags } from "../flags/global-flags.ts";
import { KubeconfigError } from "../terminal/errors.ts";
import { readFileText } from "./file-text.ts";
import { homeKubeconfig } from "./home-kubeconfig.ts";
import { findOwnCluster, type OwnCluster } from "./in-cluster.ts";
import { type KubeconfigEntry, text } from "./kubeconfig-entry.ts";

/** The merged files. */
export interface Kubeconfig {
	readonly clusters: ReadonlyMap<string, KubeconfigEntry>;
	readonly users: ReadonlyMap<string, KubeconfigEntry>;
	readonly contexts: ReadonlyMap<string, KubeconfigEntry>;
	readonly currentContext: string;
	/** Where no context is chosen: the cluster of the pod that we run in. */
	readonly ownCluster: OwnCluster | undefined;
}

/** Reads and merges the files. Throws KubeconfigError that names the file; of several files, those that do not exist are skipped. */
export function loadKubeconfig(flags: GlobalFlags, env: NodeJS.ProcessEnv): Kubeconfig {
	const merged = {
		clusters: new Map<string, KubeconfigEntry>(),
		users: new Map<string, KubeconfigEntry>(),
		contexts: new Map<string, KubeconfigEntry>(),
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
	return { ...merged, currentContext, ownCluster: findOwnCluster(env) };
}

interface KubeconfigFile {
	readonly path: string;
	readonly required: boolean;
}

function kubeconfigFiles(flags: GlobalFlags, env: NodeJS.ProcessEnv): readonly KubeconfigFile[] {
	if (flags.kubeconfig !== undefined) return [{ path: flags.kubeconfig, required: true }];
	const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
	if (listed.length > 0) return listed.map((path) => ({ path, required: false }));
	return [{ path: homeKubeconfig(env), required: false }];
}

function readKubeconfig(path: string, required: boolean): KubeconfigEntry | undefined {
	if (!existsSync(path)) {
		if (!required) return undefined;
		throw new KubeconfigError(`error: stat ${path}: no such file or directory`);
	}
	const file = readFileText(path);
	if (file.problem !== undefined) throw unreadable(path, file.problem);
	let content: unknown;
	try {
		// Tags that mean nothing to us are no reason to write to the terminal.
		content = parse(file.content, { logLevel: "error" });
	} catch (error) {
		throw unreadable(path, parserProblem(error));
	}
	// An empty file is an empty kubeconfig.
	if (content === null || content === undefined) return undefined;
	if (!isRecord(content)) throw unreadable(path, "it is not a kubeconfig");
	return content;
}

function unreadable(path: string, why: string): KubeconfigError {
	return new KubeconfigError(`error: error loading config file "${path}": ${why}`);
}

function namedEntries(
	content: KubeconfigEntry,
	kind: "clusters" | "users" | "contexts",
	field: "cluster" | "user" | "context",
	path: string,
): readonly (readonly [string, KubeconfigEntry])[] {
	const list: unknown = content[kind] ?? [];
	if (!Array.isArray(list)) throw unreadable(path, `${kind} is not a list`);
	return list.filter(isRecord).map((item: KubeconfigEntry) => {
		const name = text(item["name"]);
		const entry = isRecord(item[field]) ? item[field] : {};
		// A token that is taken for a number would be left out, and nobody would know why the login fails.
		const odd = textFields.find((each) => !["string", "undefined"].includes(typeof (entry[each] ?? undefined)));
		if (odd !== undefined) throw unreadable(path, `${odd} of ${field} ${quote(name)} is not a string`);
		return [name, withAbsolutePaths(entry, dirname(resolve(path)))] as const;
	});
}

const pathFields = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];
const textFields = pathFields.concat(
	["server", "tls-server-name", "certificate-authority-data", "proxy-url"],
	["token", "username", "password", "as", "as-uid", "client-certificate-data", "client-key-data"],
	["cluster", "user", "namespace"],
);

/** Paths in a kubeconfig are relative to its own folder; so is a plugin that is not looked for in PATH. */
function withAbsolutePaths(entry: KubeconfigEntry, folder: string): KubeconfigEntry {
	const absolute = (path: string): string => (isAbsolute(path) ? path : join(folder, path));
	const changed: Record<string, unknown> = { ...entry };
	for (const field of pathFields) {
		const path = text(entry[field]);
		if (path !== "") changed[field] = absolute(path);
	}
	const exec = entry["exec"];
	if (isRecord(exec) && text(exec["command"]).includes("/")) {
		changed["exec"] = { ...exec, command: absolute(text(exec["command"])) };
	}
	return changed;
}
