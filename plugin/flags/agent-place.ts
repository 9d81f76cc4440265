// Defines in which namespace a command expects a cluster's agents, and which account it uses to call them, according to the user's flags.

export interface AgentPlace {
	/** The anchor of trust: a user who may write in this namespace is trusted as the agent. */
	readonly namespace: string;
	/**
	 * The ServiceAccount in that namespace to authenticate as. Undefined: xpdb-operator, or else the only one that this user may request
	 * tokens for.
	 */
	readonly account: string | undefined;
}
