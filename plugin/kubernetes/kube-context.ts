// A context of the kubeconfig to work in: a name for people and a client for its API server.
import type { AgentPlace } from "../flags/agent-place.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";

export interface KubeContext {
	/** "" where there is no kubeconfig but only --server. */
	readonly name: string;
	/** Of the context or of --namespace. */
	readonly namespace: string;
	readonly client: KubernetesClient;
	readonly agents: AgentPlace;
}
