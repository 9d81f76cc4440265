// A context of the kubeconfig to work in: a name for people and a client for its API server.
import type { AgentPlace } from "../flags/agent-place.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { VerboseLog } from "../terminal/verbose-log.ts";
import type { KeptNote } from "./kept-note.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";

export interface KubeContext {
	/** "" where there is no kubeconfig but only --server. */
	readonly name: string;
	/** Of the context or of --namespace. */
	readonly namespace: string;
	readonly client: KubernetesClient;
	/** All names of the kubeconfig, for a word that names a context which this command does not work in. */
	readonly known?: readonly string[];
	readonly agents: AgentPlace;
	/** What earlier calls left about its agents. */
	readonly lastAgent?: KeptNote;
	/** For what is said of it: commands that come to the same cluster. */
	readonly suggest: SuggestedCommands;
	/** What is told of requests and calls, where somebody wants to know (-v). */
	readonly log?: VerboseLog | undefined;
}
