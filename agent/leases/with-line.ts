// Leases as one agent lists them, with what only the agent that keeps the line knows.
import type { ListedLease } from "../../proto/listed-lease.ts";

/** `host`: as that agent lists them; undefined where it could not be asked, and nobody can say who waits. */
export function withLine(
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
			// A line is made by whoever waits first: a Lease that is new over there has none.
			waiting: lease.problem !== undefined || !host ? undefined : (known?.waiting ?? 0),
			holding: holding && { ...holding, ...(account !== undefined && { account }) },
		};
	});
}

function isSame(lease: ListedLease, known: ListedLease | undefined): boolean {
	return known?.transitions === lease.transitions && known.holding?.holder === lease.holding?.holder;
}
