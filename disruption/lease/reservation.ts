// Reservations: pods that were granted, and count as unavailable until their reservations end.
//
// Guarantee: a reservation ends only by its id, and only in one of three ways.
// (1) On evidence from a view that has reached the version in the reservation: the pod is gone, terminating, finished or replaced. The same
// write records as `observed` how far the evidence had come. No agent counts from a view that has not reached `observed`.
// (2) By the fence (agent/leases/cancellation.ts): the reservation is marked, then the pod is touched, then the pod is read. If that read
// finds the pod terminating, finished or replaced, the write records its version as `observed`. If it finds no pod, nothing ends.
// (3) Taken back by its run, which never sent an eviction under it.
// Assumption: resourceVersions of pods grow in the order in which the API server changed them (Kubernetes 1.35 promises it).
import type { PodRecord } from "../budget/pod.ts";
import { compareResourceVersions, latestResourceVersion } from "../resource-version.ts";

/** If an agent has seen a reservation for this long without evidence, it starts the fence. A plugin evicts within a second or two. */
export const reservationDeadlineMs = 30_000;

export interface Reservation {
	readonly id: string;
	readonly uid: string;
	readonly name: string;
	/** The pod's version when it was counted for the grant. Evidence must come from a view that has reached this version. */
	readonly resourceVersion: string;
	/** Whose grant it is, and since when (seconds since the epoch), for people. */
	readonly holder: string;
	readonly sinceSeconds: number;
	/** The fence has marked the reservation: no eviction may be sent under it any more. */
	readonly cancelling: boolean;
}

/** The part of a view of all pods that evidence needs. */
export interface PodEvidenceView {
	readonly resourceVersion: string;
	find(pod: { readonly namespace: string; readonly uid: string }): PodRecord | undefined;
	findByName(namespace: string, name: string): PodRecord | undefined;
	goneSince(uid: string): string;
}

/**
 * Returns the version at which the view shows that the pod is gone, terminating, finished or replaced. Undefined if the pod is alive, if
 * the view is behind the reservation, or if it does not know when the pod went.
 */
export function evidenceOf(reservation: Reservation, namespace: string, view: PodEvidenceView): string | undefined {
	if (view.resourceVersion === "") return undefined;
	if (compareResourceVersions(view.resourceVersion, reservation.resourceVersion) < 0) return undefined;
	const pod = view.find({ namespace, uid: reservation.uid });
	if (pod) return pod.terminating || pod.finished ? pod.resourceVersion : undefined;
	const replacement = view.findByName(namespace, reservation.name);
	const gone = view.goneSince(reservation.uid);
	// Without a version, other views could not be required to have reached this evidence.
	if (gone === "") return undefined;
	return replacement ? latestResourceVersion(gone, replacement.resourceVersion) : gone;
}
