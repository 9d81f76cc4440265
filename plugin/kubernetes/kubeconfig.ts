// Reads the files of KUBECONFIG and merges them as kubectl does. client-node's loader refuses entries that two files name, supports neither
// tokenFile nor as-groups, and takes 230 ms of CPU to load.
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { oneLine } from "../../disruption/printable.ts";
import { parserProblem } from "../../disruption/parser-problem.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { GlobalFlags } from "../flags/global-flags.ts";
import { KubeconfigError } from "../terminal/errors.ts";
import { readFileBytes } from "./file-text.ts";
import { homeKubeconfig } from "./home-kubeconfig.ts";
import { findOwnCluster, type OwnCluster } from "./in-cluster.ts";
import { type KubeconfigEntry, text } from "./kubeconfig-entry.ts";
import { entryLists, FieldError, readConfigFields, refuseDoubledNames } from "./kubeconfig-fields.ts";
import { readYamlDocument } from "./yaml-document.ts";

export interface Kubeconfig {
	readonly clusters: ReadonlyMap<string, KubeconfigEntry>;
	readonly users: ReadonlyMap<string, KubeconfigEntry>;
	readonly contexts: ReadonlyMap<string, KubeconfigEntry>;
	readonly currentContext: string;
	/** The cluster of the plugin's own pod, used if no context, cluster, user or server is chosen. */
	readonly ownCluster: OwnCluster | undefined;
	readonly missing?: readonly string[] | undefined;
	/** Missing files of KUBECONFIG, if others exist. An entry that is not found may have been in one of them. */
	readonly skipped?: readonly string[] | undefined;
}

/**
 * Skips missing files, except the file of --kubeconfig. Throws a KubeconfigError that names the file and, if known, the entry and the
 * field.
 */
export function loadKubeconfig(flags: GlobalFlags, env: NodeJS.ProcessEnv): Kubeconfig {
	const merged = {
		clusters: new Map<string, KubeconfigEntry>(),
		users: new Map<string, KubeconfigEntry>(),
		contexts: new Map<string, KubeconfigEntry>(),
	};
	let currentContext = "";
	const files = kubeconfigFiles(flags, env);
	const missing: string[] = [];
	for (const { path, when } of files) {
		const content = readKubeconfig(path, when);
		if (content === undefined) {
			if (when === "listed") missing.push(path);
			continue;
		}
		// The first file that names an entry wins, as in kubectl.
		for (const kind of kinds) {
			for (const [name, entry] of namedEntries(content, kind, path)) {
				if (!merged[kind].has(name)) merged[kind].set(name, entry);
			}
		}
		currentContext ||= text(content["current-context"]);
	}
	return {
		...merged,
		currentContext,
		ownCluster: findOwnCluster(env),
		missing: missing.length === files.length ? missing : [],
		skipped: missing.length === files.length ? [] : missing,
	};
}

const kinds = ["clusters", "users", "contexts"] as const;
type Kind = (typeof kinds)[number];

interface KubeconfigFile {
	readonly path: string;
	readonly when: "named by a flag" | "listed" | "default";
}

function kubeconfigFiles(flags: GlobalFlags, env: NodeJS.ProcessEnv): readonly KubeconfigFile[] {
	if (flags.kubeconfig !== undefined) return [{ path: flags.kubeconfig, when: "named by a flag" }];
	const listed = env["KUBECONFIG"] ?? "";
	if (listed === "") return [{ path: homeKubeconfig(env), when: "default" }];
	const paths = listed.split(delimiter).filter((path) => path !== "");
	return [...new Set(paths)].map((path) => ({ path, when: "listed" }));
}

function readKubeconfig(path: string, when: KubeconfigFile["when"]): KubeconfigEntry | undefined {
	const file = readFileBytes(path);
	if (file.problem !== undefined) {
		if (!file.isMissing) throw unreadable(path, file.problem);
		if (when !== "named by a flag") return undefined;
		throw new KubeconfigError(`error: stat ${oneLine(path)}: no such file or directory`);
	}
	let content: unknown;
	try {
		content = readYamlDocument(file.content);
	} catch (error) {
		throw unreadable(path, parserProblem(error));
	}
	// An empty file is an empty kubeconfig.
	if (content === null) return {};
	if (!isRecord(content)) throw unreadable(path, "it is not a kubeconfig");
	try {
		refuseOtherKinds(content);
		const config = readConfigFields(content);
		for (const kind of kinds) refuseDoubledNames(entriesOf(config, kind), kind);
		return config;
	} catch (error) {
		if (!(error instanceof FieldError)) throw error;
		throw unreadable(path, `${whichField(content, error.field)} ${error.problem}`);
	}
}

function unreadable(path: string, why: string): KubeconfigError {
	return new KubeconfigError(`error: error loading config file "${oneLine(path)}": ${why}`);
}

/** Go's JSON decoder ignores the case of `kind` and `apiVersion`. Of several spellings, the last in byte order wins. */
function refuseOtherKinds(content: KubeconfigEntry): void {
	const found = { kind: "", apiversion: "" };
	for (const key of Object.keys(content).toSorted()) {
		const field = key.toLowerCase();
		const value = content[key];
		if ((field !== "kind" && field !== "apiversion") || value === null) continue;
		if (typeof value !== "string") throw new FieldError(key, "is not a string");
		found[field] = value;
	}
	const { kind, apiversion } = found;
	if ((kind || "Config") === "Config" && ["", "/", "v1", "/v1"].includes(apiversion)) return;
	throw new FieldError(
		"kind",
		`is ${quote(kind || "Config")} of apiVersion ${quote(apiversion || "v1")}, not "Config" of "v1"`,
	);
}

function entriesOf(content: KubeconfigEntry, kind: Kind): readonly KubeconfigEntry[] {
	const list: unknown = content[kind];
	return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** For example 'exec.args[1] of user "u"', if the entry has a name. */
function whichField(content: KubeconfigEntry, field: string): string {
	const [, kind = "", index = "", inner = "", rest = ""] =
		/^(clusters|users|contexts)\[(\d+)\]\.(cluster|user|context)\b\.?(.*)$/s.exec(field) ?? [];
	const list: unknown = content[kind];
	const entry: unknown = Array.isArray(list) ? list[Number(index)] : undefined;
	if (!isRecord(entry) || typeof entry["name"] !== "string") return field;
	return rest === "" ? `${inner} ${quote(entry["name"])}` : `${oneLine(rest)} of ${inner} ${quote(entry["name"])}`;
}

function namedEntries(
	content: KubeconfigEntry,
	kind: Kind,
	path: string,
): readonly (readonly [string, KubeconfigEntry])[] {
	return entriesOf(content, kind).map((item) => {
		const entry = item[entryLists[kind]];
		return [text(item["name"]), withAbsolutePaths(isRecord(entry) ? entry : {}, dirname(resolve(path)))];
	});
}

const pathFields = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];

/** As in kubectl, paths are relative to the kubeconfig's folder, except a plugin that PATH has to find. */
function withAbsolutePaths(entry: KubeconfigEntry, folder: string): KubeconfigEntry {
	const absolute = (path: string): string => (isAbsolute(path) ? path : join(folder, path));
	const changed: Record<string, unknown> = { ...entry };
	for (const field of pathFields) {
		const path = text(entry[field]);
		if (path !== "") changed[field] = absolute(path);
	}
	const exec = entry["exec"];
	if (isRecord(exec) && text(exec["command"]).includes(sep)) {
		changed["exec"] = { ...exec, command: absolute(text(exec["command"])) };
	}
	return changed;
}
