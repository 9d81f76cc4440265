// Adds to one agent's list of Leases what only the agent that keeps the line knows.
import type { ListedLease } from "../../proto/listed-lease.ts";

/**
 * Returns `leases` with the details from `host`, the list of the agent that keeps the line. `host` is undefined if that agent could not be
 * asked; then the number of waiting callers is unknown.
 */
export function mergeLineDetails(
	leases: readonly ListedLease[],
	host: readonly ListedLease[] | undefined,
): readonly ListedLease[] {
	const there = new Map(host?.map((lease) => [lease.uid, lease]));
	return leases.map((lease): ListedLease => {
		const known = there.get(lease.uid);
		const { holding } = lease;
		const account = holding?.account ?? (isSame(lease, known) ? known?.holding?.account : undefined);
		return {
			...lease,
			// The first waiting caller creates the line, so a Lease that the host does not list has no waiting callers.
			waiting: lease.problem !== undefined || !host ? undefined : (known?.waiting ?? 0),
			holding: holding && { ...holding, ...(account !== undefined && { account }) },
		};
	});
}

function isSame(lease: ListedLease, known: ListedLease | undefined): boolean {
	return known?.transitions === lease.transitions && known.holding?.holder === lease.holding?.holder;
}
