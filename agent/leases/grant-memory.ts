// Who was granted which pod, for people: a reservation ends as soon as its pod is seen terminating, and then nobody would know
// who took the pod down. It is this process's own memory, so it may know nothing; no decision asks it.
import type { BudgetLease } from "../../disruption/lease/lease.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { Reservation } from "../../disruption/lease/reservation.ts";

interface PodGrant extends Pick<Reservation, "id" | "holder" | "sinceSeconds"> {
	/** The verified user who asked for it, where that was asked of this process. */
	readonly account?: string;
}

/** As many as a full Lease has reservations, with room; less than a megabyte. */
const mostGrants = 2_000;
/** A grant is used within 30 s (reservationDeadlineMs), and its pod may have been deleted by somebody else later. */
const usedWithinSeconds = 60;
/** Names of users may have any length. */
const longestAccount = 253;

export class GrantMemory {
	/** By the pod's uid, the oldest first. */
	readonly #byUid = new Map<string, PodGrant>();

	/** A Lease as it is now. */
	saw({ state }: Pick<BudgetLease, "state">): void {
		for (const { uid, id, holder, sinceSeconds, cancelling } of state.reservations) {
			const known = this.#byUid.get(uid);
			if (!cancelling && known?.id !== id) this.#put(uid, { id, holder, sinceSeconds });
			else if (cancelling && known?.id === id) this.#byUid.delete(uid);
		}
	}

	/** These reservations were written for this user. */
	committed(ids: ReadonlySet<string>, account: string): void {
		const shown = account.slice(0, longestAccount).toWellFormed();
		for (const [uid, grant] of this.#byUid) if (ids.has(grant.id)) this.#byUid.set(uid, { ...grant, account: shown });
	}

	/** They will not be used. */
	forget(ids: ReadonlySet<string>): void {
		for (const [uid, { id }] of this.#byUid) if (ids.has(id)) this.#byUid.delete(uid);
	}

	/** The verified user of that reservation. */
	accountOf({ uid, id }: Pick<Reservation, "uid" | "id">): string | undefined {
		const grant = this.#byUid.get(uid);
		return grant?.id === id ? grant.account : undefined;
	}

	/** Under which grant the pod is reserved, or was evicted. */
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
