// Where the agents are believed to be.

/** Who the agents of a cluster are, and as whom they are asked: what the person who runs the plugin says of it. */
export interface AgentPlace {
	/** The anchor of trust: whoever may write there is the agent. */
	readonly namespace: string;
	/** The ServiceAccount in there whose token they are shown; undefined: the one that this person may ask tokens for. */
	readonly account: string | undefined;
}
