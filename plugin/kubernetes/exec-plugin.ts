// Reads and checks the exec plugin of a kubeconfig's user (client.authentication.k8s.io).
import { readFileSync } from "node:fs";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { type KubeconfigEntry, text, textList } from "./kubeconfig-entry.ts";

export interface ExecPlugin {
	readonly command: string;
	readonly args: readonly string[];
	readonly env: Readonly<Record<string, string>>;
	readonly apiVersion: string;
	readonly interactiveMode: string;
	readonly installHint: string;
	/** Undefined without provideClusterInfo. */
	readonly cluster: KubeconfigEntry | undefined;
}

const knownVersions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

/** In the words of client-go (tools/clientcmd/validation.go). */
export function execPluginProblems(exec: unknown, userName: string): readonly string[] {
	if (!isRecord(exec)) return [];
	const what = `specified for ${userName} to use exec authentication plugin`;
	const mode = text(exec["interactiveMode"]);
	const version = text(exec["apiVersion"]);
	const missing = [
		...(text(exec["command"]) === "" ? ["command"] : []),
		...(version === "" ? ["apiVersion"] : []),
		...(mode === "" ? ["interactiveMode"] : []),
	];
	const problems = missing.map((field) => `${field} must be ${what}`);
	if (variablesOf(exec).some(({ name }) => text(name) === "")) problems.push(`env variable name must be ${what}`);
	if (version !== "" && !knownVersions.includes(version)) {
		problems.push(`exec plugin: invalid apiVersion ${quote(version)}`);
	}
	if (!["", "Never", "IfAvailable", "Always"].includes(mode)) {
		problems.push(`invalid interactiveMode for ${userName}: ${quote(mode)}`);
	}
	return problems;
}

export function readExecPlugin(exec: unknown, cluster: KubeconfigEntry): ExecPlugin | undefined {
	if (!isRecord(exec)) return undefined;
	return {
		command: text(exec["command"]),
		args: textList(exec["args"]),
		env: Object.fromEntries(variablesOf(exec).map(({ name, value }) => [text(name), text(value)])),
		apiVersion: text(exec["apiVersion"]),
		interactiveMode: text(exec["interactiveMode"]),
		installHint: text(exec["installHint"]),
		cluster: exec["provideClusterInfo"] === true ? clusterInfo(cluster) : undefined,
	};
}

function variablesOf(exec: KubeconfigEntry): readonly KubeconfigEntry[] {
	const list: readonly unknown[] = Array.isArray(exec["env"]) ? exec["env"] : [];
	return list.filter(isRecord);
}

const toldFields = ["server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url", "disable-compression"];

function clusterInfo(cluster: KubeconfigEntry): KubeconfigEntry {
	const info: Record<string, unknown> = {};
	for (const field of toldFields) if (cluster[field] !== undefined) info[field] = cluster[field];
	const file = text(cluster["certificate-authority"]);
	const data = text(cluster["certificate-authority-data"]) || (file && readFileSync(file).toString("base64"));
	if (data !== "") info["certificate-authority-data"] = data;
	const extensions: readonly unknown[] = Array.isArray(cluster["extensions"]) ? cluster["extensions"] : [];
	const own = extensions.filter(isRecord).find(({ name }) => name === "client.authentication.k8s.io/exec");
	if (own) info["config"] = own["extension"];
	return info;
}
