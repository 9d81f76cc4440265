// The right to evict one pod, with its place towards the API server: it is used, and ended, or given back.
import type { Cluster } from "../budget/cluster.ts";
import type { Place } from "./places.ts";
import type { Ticket } from "./ticket.ts";

/** It must be ended after it was used (once it is sent only the answer counts), or given back. */
export interface Grant extends Place {
	readonly ticket: Ticket;
	/** The pod's cluster, as it was a member of this round. */
	readonly member: Cluster;
	/** Nothing was sent under it, and nothing will be. Resolves when its reservation is gone, or left to end by itself. */
	giveBack(): Promise<void>;
}
