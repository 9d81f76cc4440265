// The right to evict one pod, with its place in the queue for the pod's API server. The caller uses it and ends it, or gives it back.
import type { Cluster } from "../budget/cluster.ts";
import type { Place } from "./places.ts";
import type { Ticket } from "./ticket.ts";

/** The caller must end it after use, or give it back. Once the eviction is sent, only its answer decides. */
export interface Grant extends Place {
	readonly ticket: Ticket;
	/** The pod's cluster, as a member of this round. */
	readonly member: Cluster;
	/**
	 * Call it only if nothing was sent under the grant and nothing will be. Resolves when the reservation is gone, or left to end by itself.
	 */
	giveBack(): Promise<void>;
}
