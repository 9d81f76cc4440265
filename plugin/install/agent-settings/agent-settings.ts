// Reads and writes the settings of the agents' Deployment: their size and placement, and how their image is pulled. Pure.
import { isDeepStrictEqual } from "node:util";
import { defaultAgentNamespace } from "../../../disruption/agent-names.ts";
import { isRecord } from "../../../disruption/record.ts";
import type { ClusterObject } from "../cluster-object.ts";
import { deployManifests } from "../deploy-manifests.ts";

/** A setting that is left out has the shipped value. */
export interface AgentSettings {
	/** Quantities, such as 512Mi. */
	readonly memory?: { readonly request: string; readonly limit: string };
	/** The CPU request. The agents have no CPU limit. */
	readonly cpu?: string;
	readonly replicas?: number;
	readonly nodeSelector?: Readonly<Record<string, string>>;
	readonly tolerations?: readonly Readonly<Record<string, unknown>>[];
	/** Replaces the shipped affinity, which spreads the agents over nodes. */
	readonly affinity?: Readonly<Record<string, unknown>>;
	readonly priorityClass?: string;
	/** Set on the agents' pods. */
	readonly annotations?: Readonly<Record<string, string>>;
	readonly imagePullPolicy?: string;
	/** The Secrets with the logins of registries, in the agents' namespace. */
	readonly imagePullSecrets?: readonly string[];
}

/** In the order in which they are shown. */
export const settingKeys = [
	"memory",
	"cpu",
	"replicas",
	"nodeSelector",
	"tolerations",
	"affinity",
	"priorityClass",
	"annotations",
	"imagePullPolicy",
	"imagePullSecrets",
] as const satisfies readonly (keyof AgentSettings)[];

type Fields = Readonly<Record<string, unknown>>;

/** The prefix of annotations that kubectl itself sets, for example at a rollout restart. */
const kubectlAnnotation = "kubectl.kubernetes.io/";

/** What earlier versions shipped, where it differs from what this one ships. */
const shippedBefore: readonly AgentSettings[] = [{ memory: { request: "80Mi", limit: "160Mi" } }];

/**
 * Returns the settings that no version has shipped. An earlier installation or a user has set them, so an upgrade keeps them. A shipped value
 * that a person has removed counts as shipped.
 */
export function readAgentSettings(deployment: unknown): AgentSettings {
	const shipped: readonly Fields[] = [settingsOf(shippedDeployment()), ...shippedBefore].map((each) => ({ ...each }));
	const chosen = Object.entries(settingsOf(deployment)).filter(
		([key, value]) => value !== undefined && shipped.every((each) => !isDeepStrictEqual(value, each[key])),
	);
	return Object.fromEntries(chosen);
}

/** Returns the settings that the Deployment has although `planned` has none. Annotations and pull secrets of other tools may stay. */
export function leftSettings(deployment: unknown, planned: AgentSettings): readonly (keyof AgentSettings)[] {
	const found = readAgentSettings(deployment);
	const mayStay: ReadonlySet<keyof AgentSettings> = new Set(["annotations", "imagePullSecrets"]);
	return settingKeys.filter((key) => found[key] !== undefined && planned[key] === undefined && !mayStay.has(key));
}

export function withAgentSettings(deployment: ClusterObject, settings: AgentSettings): ClusterObject {
	const { memory, cpu, replicas, nodeSelector, tolerations, affinity, priorityClass, annotations } = settings;
	const { imagePullPolicy, imagePullSecrets } = settings;
	const spec = recordOf(deployment["spec"]);
	const template = recordOf(spec["template"]);
	const metadata = recordOf(template["metadata"]);
	const pod = recordOf(template["spec"]);
	const [agent, ...others] = listOf(pod["containers"]).map(recordOf);
	const resources = recordOf(agent?.["resources"]);
	const requests = {
		...recordOf(resources["requests"]),
		...(cpu !== undefined && { cpu }),
		...(memory && { memory: memory.request }),
	};
	const limits = { ...recordOf(resources["limits"]), ...(memory && { memory: memory.limit }) };
	const container = {
		...agent,
		...(imagePullPolicy !== undefined && { imagePullPolicy }),
		resources: { ...resources, requests, limits },
	};
	const placed = {
		...pod,
		...(nodeSelector && { nodeSelector }),
		...(tolerations && { tolerations }),
		...(affinity && { affinity }),
		...(priorityClass !== undefined && { priorityClassName: priorityClass }),
		...(imagePullSecrets && { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
		containers: [container, ...others],
	};
	return {
		...deployment,
		spec: {
			...spec,
			...(replicas !== undefined && { replicas }),
			template: { ...template, metadata: { ...metadata, ...(annotations && { annotations }) }, spec: placed },
		},
	};
}

function shippedDeployment(): ClusterObject | undefined {
	return deployManifests(defaultAgentNamespace).find(({ kind }) => kind === "Deployment");
}

function settingsOf(deployment: unknown): AgentSettings {
	const spec = recordOf(recordOf(deployment)["spec"]);
	const template = recordOf(spec["template"]);
	const pod = recordOf(template["spec"]);
	const containers = listOf(pod["containers"]).map(recordOf);
	const agent = containers.find(({ name }) => name === "agent") ?? {};
	const resources = recordOf(agent["resources"]);
	const [requests, limits] = [recordOf(resources["requests"]), recordOf(resources["limits"])];
	const [cpu, request, limit] = [textOf(requests["cpu"]), textOf(requests["memory"]), textOf(limits["memory"])];
	const annotations = textsOf(recordOf(template["metadata"])["annotations"], kubectlAnnotation);
	const nodeSelector = textsOf(pod["nodeSelector"]);
	const tolerations = listOf(pod["tolerations"]).filter(isRecord);
	const priorityClass = textOf(pod["priorityClassName"]);
	const imagePullPolicy = chosenPullPolicy(agent);
	const imagePullSecrets = listOf(pod["imagePullSecrets"]).flatMap((each) => textOf(recordOf(each)["name"]) ?? []);
	return {
		...(limit !== undefined && { memory: { request: request ?? limit, limit } }),
		...(cpu !== undefined && { cpu }),
		...(typeof spec["replicas"] === "number" && { replicas: spec["replicas"] }),
		...(nodeSelector && { nodeSelector }),
		...(tolerations.length > 0 && { tolerations }),
		...(isRecord(pod["affinity"]) && { affinity: pod["affinity"] }),
		...(priorityClass !== undefined && { priorityClass }),
		...(annotations && { annotations }),
		...(imagePullPolicy !== undefined && { imagePullPolicy }),
		...(imagePullSecrets.length > 0 && { imagePullSecrets }),
	};
}

/** Returns undefined if the policy is the API server's default for this image. */
function chosenPullPolicy({ image, imagePullPolicy }: Fields): string | undefined {
	const name = textOf(image) ?? "";
	const [, tag = "latest"] = /:([^/:@]+)(?:@|$)/.exec(name) ?? [];
	const usual = tag === "latest" && !name.includes("@") ? "Always" : "IfNotPresent";
	const policy = textOf(imagePullPolicy);
	return policy === usual ? undefined : policy;
}

/** Returns the entries whose values are text, without keys that begin with `without`. Undefined if none is left. */
function textsOf(value: unknown, without?: string): Readonly<Record<string, string>> | undefined {
	const entries = Object.entries(recordOf(value)).flatMap(([key, text]): readonly (readonly [string, string])[] =>
		typeof text === "string" && (without === undefined || !key.startsWith(without)) ? [[key, text]] : [],
	);
	return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function textOf(value: unknown): string | undefined {
	return typeof value === "string" && value !== "" ? value : undefined;
}

export function recordOf(value: unknown): Fields {
	return isRecord(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}
