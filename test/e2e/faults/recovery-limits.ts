// Limits the time until a run continues after a fault. The limits are for a machine that runs two fleets, and grow with its load.
import { availableParallelism, loadavg } from "node:os";

/** Ready processes per core while two fleets are tested. */
const usualLoad = 4;

/** Returns the limit for this machine at its present load. */
export function here(limitMs: number): number {
	const load = (loadavg()[0] ?? 0) / availableParallelism();
	return limitMs * Math.max(1, load / usualLoad);
}

/** Returns the limit for a run to continue after a fault: the lease time plus 5 s. */
export function leaseLimitMs(): number {
	return here(15_000);
}

/** Returns the limit while a silent plugin still has a grant: the reservation's deadline plus 5 s. */
export function reservationLimitMs(): number {
	return here(35_000);
}
