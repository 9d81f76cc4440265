// Limits the time until a run makes progress after a fault. The limits are for a machine that runs two fleets and their tests. If more runs
// beside them, everything takes longer, and the limits grow.
import { availableParallelism, loadavg } from "node:os";

/** Ready processes for each core while two fleets are tested. */
const usualLoad = 4;

/** Returns the limit for this machine at its present load. */
export function here(limitMs: number): number {
	const load = (loadavg()[0] ?? 0) / availableParallelism();
	return limitMs * Math.max(1, load / usualLoad);
}

/** Returns the lease time plus 5 s, within which a run must make progress after a fault has ended. */
export function leaseLimitMs(): number {
	return here(15_000);
}

/** Returns the reservation's deadline plus 5 s: the limit if a silent plugin still has a grant. */
export function reservationLimitMs(): number {
	return here(35_000);
}
