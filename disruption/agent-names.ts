// Defines the names of agents, and the labels and objects by which others find them. Agents, the plugin and the manifests in agent/deploy/
// must agree on them.

/** The name of the Deployment, the first part of the name in the agents' certificates, and the value of both labels below. */
export const agentName = "xpdb-agent";
/** The label of every agent's pod. Its value is agentName. */
export const agentLabel = "app.kubernetes.io/name";
/** The label of every budget's Lease, with the value agentName. Objects from `install` have it with another value. */
export const managedByLabel = "app.kubernetes.io/managed-by";
/** The audience of the tokens that agents accept. */
export const tokenAudience = "xpdb-agent";
/** The default namespace of agents and Leases. It is the anchor of trust. */
export const defaultAgentNamespace = "xpdb-system";
/** The name of the ConfigMap in the anchor that declares the fleet. */
export const defaultFleetConfigMap = "xpdb-fleet";
/** The default port for callers with tokens. An agent's flag and its pod may name another port. */
export const defaultAgentPort = 8443;
