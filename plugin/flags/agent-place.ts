// Where the agents are expected to be.

/** Where a cluster's agents are and as which account the plugin asks them, as the user of the plugin says. */
export interface AgentPlace {
	/** The anchor of trust: a user who may write in this namespace is trusted as the agent. */
	readonly namespace: string;
	/** The ServiceAccount in that namespace to authenticate as. Undefined: the one that this user may request tokens for. */
	readonly account: string | undefined;
}
