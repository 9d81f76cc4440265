// The leases that callers hold through this agent, in this cluster or passed on to another one: when the agent stops, their
// connection ends, and what nobody gives back blocks everyone else for a lease time.
import type { Acquisition, Cluster } from "../../disruption/cluster.ts";
import { leaseDurationMs } from "../../disruption/lease.ts";

interface HeldLease {
	readonly cluster: Pick<Cluster, "release">;
	readonly acquisition: Acquisition;
	readonly since: number;
	aliveAt: number;
}

/** Not renewed for so long, a lease is over anyway. */
const overAfterMs = 2 * leaseDurationMs;

export class HeldLeases {
	readonly #now: () => number;
	readonly #byNonce = new Map<string, HeldLease>();

	constructor(now: () => number) {
		this.#now = now;
	}

	add(cluster: Pick<Cluster, "release">, acquisition: Acquisition): void {
		const now = this.#now();
		for (const [nonce, { aliveAt }] of this.#byNonce) {
			if (now - aliveAt > overAfterMs) this.#byNonce.delete(nonce);
		}
		this.#byNonce.set(acquisition.nonce, { cluster, acquisition, since: now, aliveAt: now });
	}

	renewed({ nonce }: Acquisition): void {
		const held = this.#byNonce.get(nonce);
		if (held) held.aliveAt = this.#now();
	}

	/** It was given back or committed: for how long it was held, where it was held through us. */
	ended({ nonce }: Acquisition): number | undefined {
		const held = this.#byNonce.get(nonce);
		this.#byNonce.delete(nonce);
		return held && this.#now() - held.since;
	}

	/** Gives all of them back, at once; the problems that came up. */
	async giveBack(): Promise<readonly unknown[]> {
		const standing = [...this.#byNonce.values()].filter(({ aliveAt }) => this.#now() - aliveAt <= overAfterMs);
		this.#byNonce.clear();
		const results = await Promise.allSettled(standing.map(({ cluster, acquisition }) => cluster.release(acquisition)));
		return results.flatMap((result): unknown[] => (result.status === "rejected" ? [result.reason] : []));
	}
}
