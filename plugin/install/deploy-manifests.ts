// Reads the shipped manifests (agent/deploy/) as objects.
import { parseAllDocuments } from "yaml";
import { defaultAgentNamespace } from "../../disruption/agent-names.ts";
import { isRecord } from "../../disruption/record.ts";
import type { ClusterObject } from "./cluster-object.ts";
import texts from "./deploy-texts.json" with { type: "json" };

const teamFile = "team.yaml";

/** Left out: the list of members (each installation makes its own), the example of a team (agent/team/), and the file for kustomize. */
const ownFiles: ReadonlySet<string> = new Set(["fleet.yaml", teamFile, "kustomization.yaml"]);

/** The agents' namespace is replaced everywhere: in names, in subjects, and in the expressions of the policies. */
export function deployManifests(agentNamespace: string): readonly ClusterObject[] {
	return manifestsOf((file) => !ownFiles.has(file), agentNamespace);
}

export function teamManifests(agentNamespace: string): readonly ClusterObject[] {
	return manifestsOf((file) => file === teamFile, agentNamespace);
}

function manifestsOf(isWanted: (file: string) => boolean, agentNamespace: string): readonly ClusterObject[] {
	return Object.entries(texts)
		.filter(([file]) => isWanted(file))
		.flatMap(([, text]) => parseAllDocuments(text).map((document): unknown => document.toJS()))
		.filter(isManifest)
		.map((manifest) => withNamespace(manifest, agentNamespace));
}

function isManifest(value: unknown): value is ClusterObject {
	return isRecord(value) && typeof value["kind"] === "string";
}

function withNamespace<T>(value: T, agentNamespace: string): T;
function withNamespace(value: unknown, agentNamespace: string): unknown {
	if (typeof value === "string") return value.replaceAll(defaultAgentNamespace, agentNamespace);
	if (Array.isArray(value)) return value.map((each: unknown) => withNamespace(each, agentNamespace));
	if (!isRecord(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNamespace(each, agentNamespace)]));
}
