// Passes what the watch shows of Leases on to the steps that work on them and to the callers that wait for one.
import { knownMembersLease } from "../cluster-api/known-members-lease.ts";
import type { LeaseView } from "../views/object-views.ts";
import type { LocalCluster } from "./local-cluster.ts";

/** Starts to pass the changes on, and returns a function that stops this. `report` is called with the error if a Lease cannot be read. */
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
