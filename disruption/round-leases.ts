// The Leases that a round holds: kept alive, counted anew where that took long, and given back. What was acquired stands in
// here until it is given back or taken out to be committed.
import type { AcquireRequest, Acquisition, Cluster, Count } from "./cluster.ts";
import type { RoundBudget } from "./decide.ts";
import { LeaseLostError } from "./errors.ts";
import { giveBackAll } from "./give-back.ts";
import { handoverDurationMs, renewIntervalMs } from "./lease.ts";
import type { RoundRuntime } from "./round-runtime.ts";

/** One budget's Lease in one cluster. */
export interface Slot {
	readonly cluster: Cluster;
	readonly budget: RoundBudget;
}

export interface HeldLease extends Slot {
	readonly acquisition: Acquisition;
}

interface CountedLease extends HeldLease {
	readonly request: AcquireRequest;
	count: Count;
	countedAt: number;
	/** When the Lease has to be renewed. */
	renewAt: number;
}

/** Counts older than this when the last Lease was got are asked for again: waiting in line can take long. */
const countFreshForMs = 1_000;

export class RoundLeases {
	readonly #runtime: RoundRuntime;
	readonly #held = new Set<CountedLease>();

	constructor(runtime: RoundRuntime) {
		this.#runtime = runtime;
	}

	get size(): number {
		return this.#held.size;
	}

	/** Just acquired, with its count. */
	add(lease: Omit<CountedLease, "countedAt" | "renewAt"> & { readonly leaseDurationMs: number }): void {
		const { cluster, budget, request, acquisition, count, leaseDurationMs } = lease;
		const now = this.#runtime.now();
		this.#held.add({
			cluster,
			budget,
			request,
			acquisition,
			count,
			countedAt: now,
			renewAt: now + leaseDurationMs / 3,
		});
	}

	countsOf(budget: RoundBudget): readonly Count[] {
		return [...this.#held].filter((lease) => lease.budget === budget).map(({ count }) => count);
	}

	async recountOld(): Promise<void> {
		const now = this.#runtime.now();
		const old = [...this.#held].filter(({ countedAt }) => now - countedAt > countFreshForMs);
		await Promise.all(
			old.map(async (lease) => {
				lease.count = await lease.cluster.count(lease.acquisition, lease.request);
				lease.countedAt = this.#runtime.now();
			}),
		);
	}

	/**
	 * Keeps what is held alive until `stop` aborts, and aborts it where one is lost. Each is renewed a third of its time after it
	 * was got: a Lease handed over in line ends soon without it. No renewal waits for another one: a slow member must not cost
	 * what others hand over meanwhile.
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
		const [result] = await Promise.allSettled([lease.cluster.renew(lease.acquisition)]);
		// Given back meanwhile: nothing is lost.
		if (!this.#held.has(lease)) return;
		if (result.status === "fulfilled") lease.renewAt = this.#runtime.now() + renewIntervalMs;
		else if (result.reason instanceof LeaseLostError) stop.abort(result.reason);
		else this.#runtime.onLeftBehind?.(result.reason);
	}

	/** To be committed or given back by whoever takes them. */
	takeAll(): readonly HeldLease[] {
		const leases = [...this.#held];
		this.#held.clear();
		return leases;
	}

	async releaseAll(): Promise<void> {
		await releaseLeases(this.takeAll(), this.#runtime);
	}
}

export async function releaseLeases(leases: readonly HeldLease[], runtime: RoundRuntime): Promise<void> {
	const releases = leases.map(
		({ cluster, acquisition }) =>
			() =>
				cluster.release(acquisition),
	);
	await giveBackAll(releases, runtime);
}
