// Defines a kubeconfig context to work in, with a client for its API server.
import type { AgentPlace } from "../flags/agent-place.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { VerboseLog } from "../terminal/verbose-log.ts";
import type { KeptNote } from "./kept-note.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";

export interface KubeContext {
	/** "" if no context is chosen, for example with only --server. */
	readonly name: string;
	readonly namespace: string;
	readonly client: KubernetesClient;
	/** All contexts of the kubeconfig, including those that the command does not use. */
	readonly known?: readonly string[];
	readonly agents: AgentPlace;
	/** The agent pod that an earlier call used. */
	readonly lastAgent?: KeptNote;
	readonly suggest: SuggestedCommands;
	readonly log?: VerboseLog | undefined;
}
