// The names of agents, and the labels and objects by which others find them. Agent, plugin and the manifests in agent/deploy/ must agree.

/** The name of the Deployment and the certificates, and the value of its pods' label. Also the manager of every Lease. */
export const agentName = "xpdb-agent";
/** On every agent's pod, with the agent's name as its value. */
export const agentLabel = "app.kubernetes.io/name";
/** On every Lease that agents keep, with the agent's name as its value. */
export const managedByLabel = "app.kubernetes.io/managed-by";
/** The audience that a token needs so that agents accept it. */
export const tokenAudience = "xpdb-agent";
/** The namespace in which the shipped manifests put agents and Leases: the anchor of trust. */
export const defaultAgentNamespace = "xpdb-system";
/** The ConfigMap in the anchor that declares the fleet. */
export const defaultFleetConfigMap = "xpdb-fleet";
/** The port for callers with tokens, if a pod does not name another one. */
export const defaultAgentPort = 8443;
