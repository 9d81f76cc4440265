import { type BudgetLease, withoutReservations } from "../../disruption/lease/lease.ts";
import { evidenceOf, type PodEvidenceView } from "../../disruption/lease/reservation.ts";
import { latestResourceVersion } from "../../disruption/resource-version.ts";
import type { PodView } from "../views/pod-view.ts";

/**
 * Returns the Lease without the reservations for which the view shows evidence, and records how far that evidence had come. Without
 * evidence, it returns the same Lease. A dead watch shows no evidence: it may be from before a restore of etcd, and the pod may be up
 * again.
 */
export function dropSettledReservations(
	lease: BudgetLease,
	pods: PodEvidenceView & Pick<PodView, "live">,
): BudgetLease {
	if (!pods.live) return lease;
	const ids = new Set<string>();
	let observed = "";
	for (const reservation of lease.state.reservations) {
		const evidence = evidenceOf(reservation, lease.budget.namespace, pods);
		if (evidence === undefined) continue;
		ids.add(reservation.id);
		observed = latestResourceVersion(observed, evidence);
	}
	return ids.size === 0 ? lease : withoutReservations(lease, ids, observed);
}
