// Remembers, for people, which run was granted which pod. A reservation ends soon after its pod is seen terminating, and then nothing else
// shows who evicted the pod. This process's memory may have gaps, and no decision uses it.
import type { BudgetLease } from "../../disruption/lease/lease.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { Reservation } from "../../disruption/lease/reservation.ts";

interface PodGrant extends Pick<Reservation, "id" | "holder" | "sinceSeconds"> {
	/** The verified user who requested it, if the request came to this process. */
	readonly account?: string;
}

/** More than the reservations of a full Lease. They take about 1 MB if user names are as long as allowed. */
const mostGrants = 2_000;
/** Twice the 30 s within which a grant is used (reservationDeadlineMs). A pod that was deleted later may have been deleted by another user. */
const usedWithinSeconds = 60;
/** In characters. User names may have any length. */
const longestAccount = 253;

export class GrantMemory {
	/** By the pod's uid, oldest first. */
	readonly #byUid = new Map<string, PodGrant>();

	/** Takes in the reservations of a Lease as it is now. */
	saw({ state }: Pick<BudgetLease, "state">): void {
		for (const { uid, id, holder, sinceSeconds, cancelling } of state.reservations) {
			const known = this.#byUid.get(uid);
			if (!cancelling && known?.id !== id) this.#put(uid, { id, holder, sinceSeconds });
			else if (cancelling && known?.id === id) this.#byUid.delete(uid);
		}
	}

	/** Records that these reservations were written for this user. */
	committed(ids: ReadonlySet<string>, account: string): void {
		const shown = account.slice(0, longestAccount).toWellFormed();
		for (const [uid, grant] of this.#byUid) if (ids.has(grant.id)) this.#byUid.set(uid, { ...grant, account: shown });
	}

	/** Forgets grants whose reservations are being cancelled or taken back. */
	forget(ids: ReadonlySet<string>): void {
		for (const [uid, { id }] of this.#byUid) if (ids.has(id)) this.#byUid.delete(uid);
	}

	/** Returns the verified user of that reservation, if it is known. */
	accountOf({ uid, id }: Pick<Reservation, "uid" | "id">): string | undefined {
		const grant = this.#byUid.get(uid);
		return grant?.id === id ? grant.account : undefined;
	}

	/** Returns the grant under which the pod is reserved or was probably evicted, if it is known. */
	find({ uid, terminating, status }: PodRecord, reservation: Reservation | undefined): PodGrant | undefined {
		const grant = this.#byUid.get(uid);
		if (reservation) return grant?.id === reservation.id ? grant : reservation;
		if (!grant || !terminating || status?.sinceSeconds === undefined) return undefined;
		return Math.abs(status.sinceSeconds - grant.sinceSeconds) <= usedWithinSeconds ? grant : undefined;
	}

	#put(uid: string, grant: PodGrant): void {
		this.#byUid.delete(uid);
		this.#byUid.set(uid, grant);
		const [oldest] = this.#byUid.keys();
		if (this.#byUid.size > mostGrants && oldest !== undefined) this.#byUid.delete(oldest);
	}
}
