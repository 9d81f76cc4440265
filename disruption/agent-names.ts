// Defines the names of agents, and the labels and objects by which others find them. Agents, the plugin and the manifests in agent/deploy/
// must agree on them.

/** The name of the Deployment, the first part of the name in the agents' certificates, and the value of both labels below. */
export const agentName = "xpdb-agent";
/** The label of every agent's pod. Its value is agentName. */
export const agentLabel = "app.kubernetes.io/name";
/** The label of every budget's Lease. Objects from `install` have this label with another value. */
export const managedByLabel = "app.kubernetes.io/managed-by";
/** The audience of the tokens that agents accept. */
export const tokenAudience = "xpdb-agent";
/** The default namespace of agents and Leases, and so the default anchor of trust. */
export const defaultAgentNamespace = "xpdb-system";
/** The ConfigMap in the anchor that declares the fleet. An agent's flag may name another one, but the plugin reads only this one. */
export const defaultFleetConfigMap = "xpdb-fleet";
/** The default port for callers with tokens. An agent's flag and its pod may name another port. */
export const defaultAgentPort = 8443;
