// Formats the agents' settings in the plan of an installation.
import type { PlannedCluster } from "../planned-fleet.ts";
import { type AgentSettings, settingKeys } from "./agent-settings.ts";
import { isTooLittle, leastMemoryMi } from "./memory-quantity.ts";

/** Returns a line for each cluster whose settings differ from the shipped ones. Clusters with the same settings share a line. */
export function agentSettingsLines(clusters: readonly PlannedCluster[]): readonly string[] {
	const byText = Map.groupBy(clusters, lineOf);
	return [...byText].flatMap(([text, alike]) =>
		text === "" ? [] : [`Agents of ${alike.map(({ found }) => found.context.name).join(", ")}: ${text}`],
	);
}

function lineOf({ found, settings, change }: PlannedCluster): string {
	const origin = found.image === undefined ? "as in the other clusters" : "kept";
	return settingKeys
		.flatMap((key) => {
			const text = settingText(settings, key);
			if (text === undefined) return [];
			return [key in change ? text : `${text} (${origin})`];
		})
		.join(", ");
}

function settingText(settings: AgentSettings, key: keyof AgentSettings): string | undefined {
	const { memory, replicas } = settings;
	if (key === "memory" && memory) {
		return memory.request === memory.limit
			? `memory ${memory.limit}`
			: `memory ${memory.limit}, ${memory.request} of it requested`;
	}
	if (key === "replicas" && replicas !== undefined) return `${replicas} ${replicas === 1 ? "replica" : "replicas"}`;
	const value = settings[key];
	if (value === undefined) return undefined;
	if (key === "imagePullSecrets") return `${names[key]} ${settings.imagePullSecrets?.join(", ")}`;
	return `${names[key]} ${typeof value === "string" ? value : JSON.stringify(value)}`;
}

const names: Readonly<Record<keyof AgentSettings, string>> = {
	memory: "memory",
	cpu: "CPU",
	replicas: "replicas",
	nodeSelector: "node selector",
	tolerations: "tolerations",
	affinity: "affinity",
	priorityClass: "priority class",
	annotations: "annotations",
	imagePullPolicy: "image pull policy",
	imagePullSecrets: "image pull secret",
};

/** Returns warnings of settings that a person has chosen, or that are kept, and that leave the agents weak. */
export function settingsWarnings(clusters: readonly PlannedCluster[]): readonly string[] {
	const namesOf = (isWeak: (settings: AgentSettings) => boolean): readonly string[] =>
		clusters.filter(({ settings }) => isWeak(settings)).map(({ found }) => found.context.name);
	const single = namesOf(({ replicas }) => replicas === 1);
	const small = namesOf(({ memory }) => memory !== undefined && isTooLittle(memory.limit));
	return [
		...(single.length > 0
			? [
					`${single.join(", ")} ${single.length === 1 ? "has" : "have"} one agent: nothing is evicted in the whole fleet while it restarts. ` +
						"Use --agent-replicas=2",
				]
			: []),
		...(small.length > 0
			? [
					`the agents of ${small.join(", ")} have less than ${leastMemoryMi}Mi of memory: a flood of connections can end them. ` +
						`Use --agent-memory=${leastMemoryMi}Mi`,
				]
			: []),
	];
}
