import { type BudgetLease, withoutReservations } from "../../disruption/lease/lease.ts";
import { evidenceOf, type PodEvidenceView } from "../../disruption/lease/reservation.ts";
import { latestResourceVersion } from "../../disruption/resource-version.ts";

/**
 * Returns the Lease without the reservations for which the view shows evidence, and records how far that evidence had come. Without
 * evidence, it returns the same Lease.
 */
export function dropSettledReservations(lease: BudgetLease, pods: PodEvidenceView): BudgetLease {
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
