// What agents are called, and by which names they are found: agent, plugin and the manifests in agent/deploy/ have to agree.

/** Of the Deployment and its pods' label, of the certificates, and of who manages a Lease. */
export const agentName = "xpdb-agent";
/** On every agent's pod, with the agent's name as its value. */
export const agentLabel = "app.kubernetes.io/name";
/** On every Lease of ours, with the agent's name as its value. */
export const managedByLabel = "app.kubernetes.io/managed-by";
/** Whom a token has to be for that agents take. */
export const tokenAudience = "xpdb-agent";
/** Where the shipped manifests put agents and Leases: the anchor of trust. */
export const defaultAgentNamespace = "xpdb-system";
/** The ConfigMap in the anchor that declares the fleet. */
export const defaultFleetConfigMap = "xpdb-fleet";
/** The port for tokens, where a pod does not name another one. */
export const defaultAgentPort = 8443;
