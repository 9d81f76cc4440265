// Defines the flags for the agents' size and placement, and for pulling their image. plan-agent-settings.ts interprets their values,
// because that requires the members.
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { isRecord } from "../../../disruption/record.ts";
import { quote } from "../../../disruption/quote.ts";
import { type CommandInput, listFlag } from "../../flags/command.ts";
import type { FlagTable } from "../../flags/flag.ts";
import { errorText } from "../../kubernetes/api-error.ts";
import { UsageError } from "../../terminal/errors.ts";
import type { AgentSettings } from "./agent-settings.ts";

export const settingFlags = {
	memory: "agent-memory",
	cpu: "agent-cpu",
	replicas: "agent-replicas",
	nodeSelector: "agent-node-selector",
	tolerations: "agent-tolerations",
	affinity: "agent-affinity",
	priorityClass: "agent-priority-class",
	annotations: "agent-annotations",
	imagePullPolicy: "image-pull-policy",
	imagePullSecrets: "image-pull-secret",
} as const satisfies Readonly<Record<keyof AgentSettings, string>>;

export const agentSettingsFlags: FlagTable = {
	"agent-memory": {
		kind: "list",
		value: "[MEMBER=]QUANTITY",
		describe:
			"The memory of each agent, requested and as its limit: 512Mi; for one member, or for all; may be repeated",
	},
	"agent-cpu": {
		kind: "list",
		value: "[MEMBER=]QUANTITY",
		describe: "The CPU that each agent requests: 100m; may be repeated",
	},
	"agent-replicas": {
		kind: "list",
		value: "[MEMBER=]NUMBER",
		describe: "The number of agents in a cluster; may be repeated",
	},
	"agent-node-selector": {
		kind: "list",
		value: "[MEMBER=]KEY=VALUE",
		describe: "A label of the nodes that agents run on; may be repeated",
	},
	"agent-tolerations": {
		kind: "list",
		value: "[MEMBER=]KEY[=VALUE][:EFFECT]",
		describe: "A taint that agents tolerate; may be repeated",
	},
	"agent-affinity": {
		kind: "list",
		value: "[MEMBER=]FILE",
		describe:
			"A YAML file with the affinity of the agents, instead of the one that spreads them over nodes; may be repeated",
	},
	"agent-priority-class": {
		kind: "list",
		value: "[MEMBER=]CLASS",
		describe: "The PriorityClass of the agents; may be repeated",
	},
	"agent-annotations": {
		kind: "list",
		value: "[MEMBER=]KEY=VALUE",
		describe: "An annotation on the agents' pods; may be repeated",
	},
	"image-pull-policy": {
		kind: "list",
		value: "[MEMBER=]POLICY",
		describe: "When the agents' image is pulled: Always, IfNotPresent or Never; may be repeated",
	},
	"image-pull-secret": {
		kind: "list",
		value: "[MEMBER=]SECRET",
		describe: "The Secret in the agents' namespace with the image registry's login; may be repeated",
	},
};

/** The values as typed, with or without MEMBER= in front. */
export interface AgentSettingsChoice {
	readonly texts: Readonly<Record<keyof AgentSettings, readonly string[]>>;
	/** The contents of the named files, by file name. */
	readonly affinities: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

export function readAgentSettingsChoice(input: CommandInput): AgentSettingsChoice {
	const of = (setting: keyof AgentSettings): readonly string[] => listFlag(input, settingFlags[setting]);
	const texts = {
		memory: of("memory"),
		cpu: of("cpu"),
		replicas: of("replicas"),
		nodeSelector: of("nodeSelector"),
		tolerations: of("tolerations"),
		affinity: of("affinity"),
		priorityClass: of("priorityClass"),
		annotations: of("annotations"),
		imagePullPolicy: of("imagePullPolicy"),
		imagePullSecrets: of("imagePullSecrets"),
	};
	const files = texts.affinity.map((text) => text.slice(text.lastIndexOf("=") + 1)).filter((file) => file !== "");
	return { texts, affinities: new Map(files.map((file) => [file, readAffinity(file)])) };
}

const affinityKinds = ["nodeAffinity", "podAffinity", "podAntiAffinity"];

function readAffinity(file: string): Readonly<Record<string, unknown>> {
	const flag = `--${settingFlags.affinity}`;
	const content = readYaml(flag, file);
	const isAffinity =
		isRecord(content) &&
		Object.keys(content).length > 0 &&
		Object.keys(content).every((key) => affinityKinds.includes(key));
	if (isAffinity) return content;
	throw new UsageError(
		`${flag}: ${quote(file)} is not an affinity`,
		`It has the fields ${affinityKinds.join(", ")}, as under spec.affinity of a pod`,
	);
}

function readYaml(flag: string, file: string): unknown {
	try {
		return parse(readFileSync(file, "utf8"));
	} catch (error) {
		throw new UsageError(`cannot read the file of ${flag}: ${errorText(error)}`);
	}
}
