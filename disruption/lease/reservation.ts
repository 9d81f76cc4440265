// Reservations: pods that were granted and count as unavailable until there is evidence about that very pod.
//
// Guarantee: a reservation ends only by its id, and only (1) on evidence from a view that is past the version in the
// reservation: gone, terminating, finished or replaced; what was seen is written down as `observed` in the same write,
// and no one counts from a view that has not come as far; (2) by the fence: marked, then the pod touched, then the pod
// read alive (agent/leases/cancellation.ts); (3) taken back by a round that never sent an eviction.
// Assumption: resourceVersions of pods grow in the order in which the API server changed them (Kubernetes 1.35 promises it).
import type { PodRecord } from "../budget/pod.ts";
import { compareResourceVersions, latestResourceVersion } from "../resource-version.ts";

/** A plugin evicts within a second or two; whoever has said nothing for this long is taken for dead. */
export const reservationDeadlineMs = 30_000;

export interface Reservation {
	readonly id: string;
	readonly uid: string;
	readonly name: string;
	/** The pod's version when it was granted: evidence must come from a view that is past it. */
	readonly resourceVersion: string;
	/** Whose grant it is, and since when (seconds since the epoch); for people. */
	readonly holder: string;
	readonly sinceSeconds: number;
	/** Somebody is cancelling it: who holds its id may no longer send an eviction. */
	readonly cancelling: boolean;
}

/** What evidence needs to know of a view of all pods. */
export interface PodEvidenceView {
	readonly resourceVersion: string;
	find(pod: { readonly namespace: string; readonly uid: string }): PodRecord | undefined;
	findByName(namespace: string, name: string): PodRecord | undefined;
	goneSince(uid: string): string;
}

/**
 * The version at which the view shows that the pod's reservation has served its purpose, or undefined where it shows
 * nothing: alive, or not seen by a view that is still behind the reservation.
 */
export function evidenceOf(reservation: Reservation, namespace: string, view: PodEvidenceView): string | undefined {
	if (view.resourceVersion === "") return undefined;
	if (compareResourceVersions(view.resourceVersion, reservation.resourceVersion) < 0) return undefined;
	const pod = view.find({ namespace, uid: reservation.uid });
	if (pod) return pod.terminating || pod.finished ? pod.resourceVersion : undefined;
	const replacement = view.findByName(namespace, reservation.name);
	const gone = view.goneSince(reservation.uid);
	// Without a version nobody else could be held to what this view has seen.
	if (gone === "") return undefined;
	return replacement ? latestResourceVersion(gone, replacement.resourceVersion) : gone;
}
