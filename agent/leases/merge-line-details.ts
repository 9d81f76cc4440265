// Adds to one agent's list of Leases what only the agent that keeps the line knows.
import type { ListedLease } from "../../proto/listed-lease.ts";

/**
 * `host` is the list of the agent that keeps the line. If that agent could not be asked, it is undefined, and the number of waiting callers
 * is unknown.
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
			// A Lease that the host does not list is too new for its watch, so no caller waits for it yet.
			waiting: lease.problem !== undefined || !host ? undefined : (known?.waiting ?? 0),
			holding: holding && { ...holding, ...(account !== undefined && { account }) },
		};
	});
}

function isSame(lease: ListedLease, known: ListedLease | undefined): boolean {
	return known?.transitions === lease.transitions && known.holding?.holder === lease.holding?.holder;
}
