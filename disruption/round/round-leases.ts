// Holds the Leases of a round: renews them, counts again after a long wait, and gives them back. An acquisition stays in here until it is
// given back or taken out for the commit.
import { formatBudgetName, type RoundBudget } from "../budget/budget.ts";
import type { AcquireRequest, Acquisition, Cluster, Count } from "../budget/cluster.ts";
import { LeaseLostError } from "../errors.ts";
import { giveBackAll } from "./give-back.ts";
import { handoverDurationMs, renewIntervalMs } from "../lease/lease.ts";
import type { RoundObserver, RoundRuntime } from "./round-runtime.ts";
import { ToldLease } from "./told-lease.ts";

/** One budget's Lease in one cluster. */
export interface Slot {
	readonly cluster: Cluster;
	readonly budget: RoundBudget;
}

export interface HeldLease extends Slot {
	readonly acquisition: Acquisition;
	/** Reports the end of this hold to the observer, once. */
	readonly told: ToldLease;
}

interface CountedLease extends HeldLease {
	acquisition: Acquisition;
	readonly request: AcquireRequest;
	count: Count;
	/** When the count was requested: the age of an answer is unknown when it arrives. */
	askedAt: number;
	renewAt: number;
}

/** Older counts are requested again once all Leases are acquired, because a wait in line can take long. */
const countFreshForMs = 1_000;

export class RoundLeases {
	readonly #runtime: RoundRuntime;
	readonly #observer: Partial<RoundObserver> | undefined;
	readonly #held = new Set<CountedLease>();

	constructor(runtime: RoundRuntime, observer?: Partial<RoundObserver>) {
		this.#runtime = runtime;
		this.#observer = observer;
	}

	get size(): number {
		return this.#held.size;
	}

	/** `askedAt` is the time before the acquire was sent. */
	add(lease: Omit<CountedLease, "renewAt" | "told"> & { readonly leaseDurationMs: number }): void {
		const { cluster, budget, request, acquisition, count, askedAt, leaseDurationMs } = lease;
		const now = this.#runtime.now();
		const observed = { budget: budget.name, cluster: cluster.name, holder: request.holder };
		this.#observer?.leaseAcquired?.({ ...observed, leaseDurationMs, waitedMs: now - askedAt });
		this.#held.add({
			cluster,
			budget,
			request,
			acquisition,
			told: new ToldLease(observed, this.#runtime, this.#observer),
			count,
			askedAt,
			// An optimistic hold is not written, so it never needs renewing.
			renewAt: acquisition.unwritten ? Number.POSITIVE_INFINITY : now + leaseDurationMs / 3,
		});
	}

	countsOf(budget: RoundBudget): readonly Count[] {
		return [...this.#held].filter((lease) => lease.budget === budget).map(({ count }) => count);
	}

	get oldestAskedAt(): number {
		return Math.min(...[...this.#held].map(({ askedAt }) => askedAt));
	}

	async recountOld(signal: AbortSignal): Promise<void> {
		const now = this.#runtime.now();
		const old = [...this.#held].filter(({ askedAt }) => now - askedAt > countFreshForMs);
		const results = await Promise.allSettled(
			old.map((lease) => (lease.acquisition.unwritten ? this.#acquireAnew(lease, signal) : this.#recount(lease))),
		);
		const failed = results.find(({ status }) => status === "rejected");
		if (failed?.status === "rejected") throw failed.reason;
	}

	async #recount(lease: CountedLease): Promise<void> {
		const askedAt = this.#runtime.now();
		const acquisition = { ...lease.acquisition, countId: this.#runtime.newId() };
		lease.count = await lease.told.unlessLost(lease.cluster.count(acquisition, lease.request));
		lease.acquisition = acquisition;
		lease.askedAt = askedAt;
	}

	/** Acquires again instead of counting again: since the count of an optimistic hold, another run may have held the Lease. */
	async #acquireAnew(lease: CountedLease, signal: AbortSignal): Promise<void> {
		const { cluster, budget } = lease;
		const request = { ...lease.request, nonce: this.#runtime.newId() };
		const askedAt = this.#runtime.now();
		const outcome = await cluster.acquire(request, { wait: false, signal });
		if (outcome.kind !== "acquired") {
			throw new LeaseLostError(
				`Lease of budget "${formatBudgetName(budget.name)}" in cluster "${cluster.name}" was taken by "${outcome.holder}"`,
			);
		}
		this.#held.delete(lease);
		this.add({ cluster, budget, request, ...outcome, askedAt });
	}

	/**
	 * Renews what is held until `stop` aborts, and aborts `stop` if a Lease is lost. The first renewal comes after a third of the time that
	 * the hold lasts, because a Lease that was handed over in line ends soon. Renewals do not wait for each other: a slow member must not
	 * cause the loss of other members' Leases.
	 */
	async keepAlive(stop: AbortController): Promise<void> {
		const renewing = new Map<CountedLease, Promise<void>>();
		while (!stop.signal.aborted) {
			await this.#runtime.sleep(handoverDurationMs / 4, stop.signal);
			if (stop.signal.aborted) break;
			for (const lease of this.#held) {
				if (this.#runtime.now() < lease.renewAt || renewing.has(lease)) continue;
				const renewal = this.#renew(lease, stop).then(() => void renewing.delete(lease));
				renewing.set(lease, renewal);
			}
		}
		await Promise.all(renewing.values());
	}

	async #renew(lease: CountedLease, stop: AbortController): Promise<void> {
		const [result] = await Promise.allSettled([lease.told.unlessLost(lease.cluster.renew(lease.acquisition))]);
		// The round has given the Lease back meanwhile, so nothing is lost.
		if (!this.#held.has(lease)) return;
		if (result.status === "fulfilled") lease.renewAt = this.#runtime.now() + renewIntervalMs;
		else if (result.reason instanceof LeaseLostError) stop.abort(result.reason);
		else this.#runtime.onLeftBehind?.(result.reason);
	}

	/** Removes and returns all Leases. The caller must commit them or give them back. */
	takeAll(): readonly HeldLease[] {
		const leases = [...this.#held];
		this.#held.clear();
		return leases;
	}

	async releaseAll(): Promise<void> {
		await releaseLeases(this.takeAll(), this.#runtime);
	}
}

/** Releases the written Leases. An optimistic hold excludes no other run, so it needs no release. Never rejects. */
export async function releaseLeases(leases: readonly HeldLease[], runtime: RoundRuntime): Promise<void> {
	const written = leases.filter(({ acquisition }) => !acquisition.unwritten);
	const releases = written.map(({ cluster, acquisition, told }) => async () => {
		try {
			await cluster.release(acquisition);
			told.released();
		} finally {
			told.leave();
		}
	});
	await giveBackAll(releases, runtime);
}
