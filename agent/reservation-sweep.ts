// Ends reservations that nobody ends: on evidence after a while, through the fence when their time is over, and cancels
// that somebody left half done. Gives Leases back whose holder is dead: anyone may take them, but where nobody wants to
// they would name it for ever. Times are counted from this process's own first sight of a reservation's id, or of a
// holder's last sign of life, so they only decide how soon others may go on.
import { evidenceOf } from "../disruption/reservation.ts";
import { type BudgetLease, leaseDurationMs, parseLease } from "../disruption/lease.ts";
import type { Clock } from "./clock.ts";
import type { LeaseObject } from "./cluster-api.ts";
import type { LocalCluster } from "./local-cluster.ts";
import type { PodView } from "./pod-view.ts";

/** A plugin evicts within a second or two; whoever has said nothing for this long is taken for dead. */
export const reservationDeadlineMs = 30_000;
/** The next acquire ends what is evident in a write that it makes anyway: only idle budgets are swept. */
const evidenceDelayMs = 10_000;
/** A cancel is three requests; one that has not ended by then was left behind. */
const resumeAfterMs = 5_000;
/** Twice the lease time: whoever wants the Lease has taken it by then. */
const silentHolderMs = 2 * leaseDurationMs;

export interface ReservationSweepOptions {
	readonly cluster: LocalCluster;
	readonly pods: PodView;
	readonly leases: () => Iterable<LeaseObject>;
	readonly clock: Clock;
	/** Agents of one cluster take turns: this one waits so much longer, so that they do not all do the same work. */
	readonly extraDelayMs: () => number;
	readonly report: (problem: unknown) => void;
}

export class ReservationSweep {
	readonly #options: ReservationSweepOptions;
	readonly #seenAt = new Map<string, number>();

	constructor(options: ReservationSweepOptions) {
		this.#options = options;
	}

	/** One pass over all Leases; every budget's problem is reported and holds no other one up. */
	async sweep(): Promise<void> {
		const standing = new Set<string>();
		const work: Promise<void>[] = [];
		for (const object of this.#options.leases()) {
			try {
				work.push(...this.#sweepLease(parseLease(object, this.#options.cluster.name), standing));
			} catch (error) {
				this.#options.report(error);
			}
		}
		for (const key of this.#seenAt.keys()) if (!standing.has(key)) this.#seenAt.delete(key);
		for (const result of await Promise.allSettled(work)) {
			if (result.status === "rejected") this.#options.report(result.reason);
		}
	}

	#sweepLease(lease: BudgetLease, standing: Set<string>): readonly Promise<void>[] {
		const { cluster, pods, clock } = this.#options;
		const delay = this.#options.extraDelayMs();
		const ageOf = (key: string): number => {
			standing.add(key);
			const seenAt = this.#seenAt.get(key) ?? clock.now();
			this.#seenAt.set(key, seenAt);
			return clock.now() - seenAt - delay;
		};
		const { holder, state } = lease;
		const isSilent = holder !== "" && ageOf(`${lease.uid} ${state.nonce} ${state.renewals}`) >= silentHolderMs;
		const overdue: string[] = [];
		let evident = false;
		for (const reservation of state.reservations) {
			const age = ageOf(`${reservation.id} ${reservation.cancelling}`);
			if (evidenceOf(reservation, lease.budget.namespace, pods) !== undefined) evident ||= age >= evidenceDelayMs;
			else if (age >= (reservation.cancelling ? resumeAfterMs : reservationDeadlineMs)) overdue.push(reservation.id);
		}
		return [
			...(isSilent ? [cluster.endSilent(lease.budget)] : []),
			...(evident ? [cluster.endOnEvidence(lease.budget)] : []),
			...(overdue.length > 0 ? [cluster.cancel(lease.budget, overdue, { sent: true })] : []),
		];
	}
}
