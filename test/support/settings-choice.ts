// Builds what an installation's flags say about the agents' settings.
import type { AgentSettingsChoice } from "../../plugin/install/agent-settings/agent-settings-flags.ts";

export function newSettingsChoice(
	texts: Partial<AgentSettingsChoice["texts"]> = {},
	affinities: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): AgentSettingsChoice {
	return {
		texts: {
			memory: [],
			cpu: [],
			replicas: [],
			nodeSelector: [],
			tolerations: [],
			affinity: [],
			priorityClass: [],
			annotations: [],
			imagePullPolicy: [],
			imagePullSecrets: [],
			...texts,
		},
		affinities: new Map(Object.entries(affinities)),
	};
}
