// The right to evict one pod, with the place that the pod takes at its API server (places.ts).
import type { Cluster } from "../budget/cluster.ts";
import type { Place } from "./places.ts";
import type { Ticket } from "./ticket.ts";

/** The caller must end it after use, or give it back unused. */
export interface Grant extends Place {
	readonly ticket: Ticket;
	/** The pod's cluster, as a member of this round. */
	readonly member: Cluster;
	/**
	 * Gives the reservation back and ends the place. Call it only if nothing was sent under the grant and nothing will be. Resolves when
	 * the reservation is gone, or left to end by itself.
	 */
	giveBack(): Promise<void>;
}
