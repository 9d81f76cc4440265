// Ends abandoned reservations: on evidence after a while, and by the fence after their deadline or after a half-finished cancel. Also
// releases Leases of dead holders: another run could take them over, but an unused Lease would name its dead holder forever. A failed
// cancel is tried again less and less often, because a reservation for a pod that never existed would otherwise cost many requests. Times
// start when this process first saw a reservation, its mark, or a holder's last sign of life. They only decide how soon others may
// continue.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import { GarbledLeaseError } from "../../disruption/errors.ts";
import { type BudgetLease, leaseDurationMs, parseLease, whileNobodyDrains } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { evidenceOf, reservationDeadlineMs } from "../../disruption/lease/reservation.ts";
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import type { Clock } from "../process/clock.ts";
import type { PodView } from "../views/pod-view.ts";
import type { LocalCluster } from "./local-cluster.ts";

/** The next acquire ends evident reservations in a write that it makes anyway, so the sweep is for idle budgets. */
const evidenceDelayMs = 10_000;
/** A cancel takes about five requests. If it takes longer than this, it counts as abandoned. */
const resumeAfterMs = 5_000;
/** The pause before a failed cancel is tried again. It doubles each time. */
const firstRetryMs = 5_000;
const longestRetryMs = 300_000;
/** Limits the retries in one pass, over all Leases, because each costs the API server at least two requests. */
const mostRetries = 20;
/** How many attempts are made before a reservation is reported. After 30 s and three retries, anything that was only slow has arrived. */
const tellAfterAttempts = 4;
/** Twice the lease duration, so that a run that wants the Lease has taken it by then. */
const silentHolderMs = 2 * leaseDurationMs;

interface ReservationSweepOptions {
	readonly cluster: LocalCluster;
	readonly pods: PodView;
	readonly leases: () => Iterable<LeaseObject>;
	readonly clock: Clock;
	/** How much longer this agent waits than the one that keeps the line, so that the agents of a cluster do not all do the same work. */
	readonly extraDelayMs: () => number;
	readonly report: (problem: unknown) => void;
}

export class ReservationSweep {
	readonly #options: ReservationSweepOptions;
	readonly #seenAt = new Map<string, number>();
	/** By reservation id: cancels that have not ended their reservation. */
	readonly #attempts = new Map<string, { readonly count: number; readonly nextAt: number }>();

	constructor(options: ReservationSweepOptions) {
		this.#options = options;
	}

	/** Makes one pass over all Leases. A budget's problem is reported, and does not stop the pass. */
	async sweep(): Promise<void> {
		const standing = new Set<string>();
		const retries = { left: mostRetries };
		const work: Promise<void>[] = [];
		for (const object of this.#options.leases()) {
			try {
				work.push(...this.#sweepLease(parseLease(object, this.#options.cluster.name), standing, retries));
			} catch (error) {
				this.#options.report(error);
			}
		}
		for (const key of this.#seenAt.keys()) if (!standing.has(key)) this.#seenAt.delete(key);
		for (const id of this.#attempts.keys()) if (!standing.has(id)) this.#attempts.delete(id);
		for (const result of await Promise.allSettled(work)) {
			if (result.status === "rejected") this.#options.report(result.reason);
		}
	}

	#sweepLease(lease: BudgetLease, standing: Set<string>, retries: { left: number }): readonly Promise<void>[] {
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
			standing.add(reservation.id);
			if (evidenceOf(reservation, lease.budget.namespace, pods) !== undefined)
				evident ||= pods.live && age >= evidenceDelayMs;
			else if (age < (reservation.cancelling ? resumeAfterMs : reservationDeadlineMs)) continue;
			else if (this.#isDue(reservation.id, retries)) overdue.push(reservation.id);
		}
		this.#tellEndless(lease);
		return [
			...(isSilent ? [cluster.endSilent(lease.budget)] : []),
			...(evident ? [cluster.endOnEvidence(lease.budget)] : []),
			...(overdue.length > 0 ? [cluster.cancel(lease.budget, overdue, { sent: true })] : []),
		];
	}

	/** Whether a cancel may be tried now. If so, the attempt counts. */
	#isDue(id: string, retries: { left: number }): boolean {
		const { clock } = this.#options;
		const before = this.#attempts.get(id);
		if (before) {
			if (clock.now() < before.nextAt || retries.left === 0) return false;
			retries.left -= 1;
		}
		const count = before?.count ?? 0;
		const pauseMs = Math.min(firstRetryMs * 2 ** count, longestRetryMs);
		this.#attempts.set(id, { count: count + 1, nextAt: clock.now() + pauseMs });
		return true;
	}

	/**
	 * Reports reservations that may never end. If a pod does not exist, only a view past the reservation's version proves that, and the view
	 * may never get there.
	 */
	#tellEndless({ name, budget, state }: BudgetLease): void {
		const { cluster, pods, report } = this.#options;
		const endless = state.reservations.filter(
			({ id, uid, resourceVersion }) =>
				(this.#attempts.get(id)?.count ?? 0) >= tellAfterAttempts &&
				compareResourceVersions(resourceVersion, pods.resourceVersion) > 0 &&
				!pods.find({ namespace: budget.namespace, uid }),
		);
		const [first] = endless;
		if (!first) return;
		report(
			new GarbledLeaseError(
				`cannot end ${endless.length === 1 ? "1 reservation" : `${endless.length} reservations`} in Lease "${name}" of budget "${formatBudgetName(budget)}" in cluster ` +
					`"${cluster.name}", for example of pod "${first.name}": the pod does not exist, and no pod ever had version ` +
					`${first.resourceVersion} (the newest is ${pods.resourceVersion}). They block no eviction. To remove them, delete ` +
					`this Lease, ${whileNobodyDrains}`,
			),
		);
	}
}
