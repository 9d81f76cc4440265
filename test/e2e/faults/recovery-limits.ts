// How soon somebody makes progress after a fault: set for a machine that is as busy as two fleets and their tests make it. Where others
// work beside them, everybody's turn comes later, and so does the end of each limit.
import { availableParallelism, loadavg } from "node:os";

/** Ready processes for each core while two fleets are tested. */
const usualLoad = 4;

/** A limit of ours on this machine, as busy as it is now. */
export function here(limitMs: number): number {
	const load = (loadavg()[0] ?? 0) / availableParallelism();
	return limitMs * Math.max(1, load / usualLoad);
}

/** The lease time and 5 s: within that somebody makes progress after a fault is over. */
export function leaseLimitMs(): number {
	return here(15_000);
}

/** The same after a grant that a silent plugin took along: the reservation's deadline and 5 s. */
export function reservationLimitMs(): number {
	return here(35_000);
}
