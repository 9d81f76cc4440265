// Defines a context of the kubeconfig to work in: a name for messages, and a client for its API server.
import type { AgentPlace } from "../flags/agent-place.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { VerboseLog } from "../terminal/verbose-log.ts";
import type { KeptNote } from "./kept-note.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";

export interface KubeContext {
	/** "" if no context is chosen, for example with only --server. */
	readonly name: string;
	/** The namespace of the context or of --namespace. */
	readonly namespace: string;
	readonly client: KubernetesClient;
	/** All context names of the kubeconfig, to recognise a context that this command does not use. */
	readonly known?: readonly string[];
	readonly agents: AgentPlace;
	/** What earlier calls kept about its agents. */
	readonly lastAgent?: KeptNote;
	/** Builds suggested commands that reach the same cluster. */
	readonly suggest: SuggestedCommands;
	/** Logs requests and calls, if -v asks for it. */
	readonly log?: VerboseLog | undefined;
}
