// Builds Leases of budget shop/db, and what they contain. By default, a Lease has no holder and no reservations.
import type { Grant } from "../../disruption/budget/cluster.ts";
import { annotationsOf, type BudgetLease, leaseName, newState } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { ControllerReference } from "../../disruption/budget/pod.ts";
import type { Reservation } from "../../disruption/lease/reservation.ts";
import { budget, podReference } from "./build-count.ts";

export function newLease(
	more: Partial<Omit<BudgetLease, "state">> & { readonly state?: Partial<BudgetLease["state"]> } = {},
) {
	const lease: BudgetLease = {
		name: leaseName(more.budget ?? budget),
		uid: "lease-uid",
		resourceVersion: "7",
		budget,
		holder: "",
		durationMs: 1000,
		transitions: 0,
		acquireTime: undefined,
		labels: {},
		annotations: {},
		...more,
		state: { ...newState, ...more.state },
	};
	return lease;
}

export function leaseFields(lease: BudgetLease): LeaseObject {
	return {
		name: lease.name,
		uid: lease.uid,
		resourceVersion: lease.resourceVersion,
		labels: lease.labels,
		annotations: annotationsOf(lease),
		spec: {
			...(lease.holder !== "" && { holderIdentity: lease.holder }),
			leaseDurationSeconds: lease.durationMs / 1000,
			leaseTransitions: lease.transitions,
			...(lease.acquireTime !== undefined && { acquireTime: lease.acquireTime }),
		},
	};
}

export function newReservation(name: string, more: Partial<Reservation> = {}): Reservation {
	return {
		id: `id-${name}`,
		uid: `uid-${name}`,
		name,
		resourceVersion: "100",
		holder: "drain-7f",
		sinceSeconds: 1_795_000_000,
		cancelling: false,
		...more,
	};
}

export function newGrant(name: string, more: Partial<Grant> = {}): Grant {
	return { id: `id-${name}`, pod: podReference(name), resourceVersion: "100", ...more };
}

export function newController(name: string, more: Partial<ControllerReference> = {}): ControllerReference {
	return { apiVersion: "apps/v1", kind: "StatefulSet", name, uid: `uid-of-${name}`, ...more };
}
