// Passes changes of Leases from the watch to the LeaseStore, and wakes callers that wait for these Leases.
import { knownMembersLease } from "../cluster-api/known-members-lease.ts";
import type { LeaseView } from "../views/object-views.ts";
import type { LocalCluster } from "./local-cluster.ts";

/** Passes changes until the returned function is called. Calls `report` with the error if a Lease cannot be read. */
export function relayLeaseChanges(
	view: Pick<LeaseView, "find" | "onChange">,
	local: Pick<LocalCluster, "leases" | "leaseChanged">,
	report: (problem: unknown) => void,
): () => void {
	return view.onChange((name) => {
		if (name === knownMembersLease) return;
		const object = view.find(name);
		try {
			if (object) local.leases.sighted(object);
			else local.leases.forget(name);
		} catch (error) {
			report(error);
		}
		local.leaseChanged(name);
	});
}
