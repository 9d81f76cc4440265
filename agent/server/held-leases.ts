// Tracks the written Leases that callers hold through this agent, here or in a cluster to which it forwards their calls. It limits their
// number and duration, and releases them when the agent stops. Whether a Lease is held is decided by the Lease itself
// (agent/leases/lease-store.ts).
//
// A Lease is held for one round. A caller that only renews it would block all others, so renewals end after a time. A Lease that a stopped
// agent did not release would block all others for a lease duration.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { Acquisition, Cluster } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError, LeaseLostError } from "../../disruption/errors.ts";
import { leaseDurationMs } from "../../disruption/lease/lease.ts";
import type { Caller } from "../peers/caller.ts";
import { partyOf } from "./open-calls.ts";

/**
 * A round keeps its Leases while it waits in line at another cluster. This allows twenty rounds ahead of it: 8 s for a count, 2 s for a
 * handover and 5 s for a commit each. A round that waits longer loses its Leases and starts over.
 */
export const longestHoldMs = 5 * 60_000;
/** A drain of five hundred pods may hold the Leases of as many budgets in one cluster. */
const maxPerParty = 500;
/** A Lease that was not renewed for this long has expired. */
const overAfterMs = 2 * leaseDurationMs;

interface HeldLease {
	/** Undefined if another agent acquired the Lease and this one only renewed it. */
	readonly through?: {
		readonly party: string;
		readonly cluster: Pick<Cluster, "release">;
		readonly acquisition: Acquisition;
	};
	/** When this agent first saw the Lease, by `now`. */
	readonly since: number;
	aliveAt: number;
}

interface HeldLeasesOptions {
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	/** For messages. */
	readonly cluster: string;
	/** Called when a commit or release ends a Lease that was acquired through this agent. Not called if the Lease expires. */
	readonly onEnded?: (heldMs: number) => void;
}

export class HeldLeases {
	readonly #options: HeldLeasesOptions;
	readonly #byNonce = new Map<string, HeldLease>();

	constructor(options: HeldLeasesOptions) {
		this.#options = options;
	}

	/** Throws AgentUnavailableError if the caller already holds as many Leases as one caller may. */
	assertRoom(caller: Caller): void {
		this.#forgetOver();
		const party = partyOf(caller);
		let held = 0;
		for (const { through } of this.#byNonce.values()) if (through?.party === party) held++;
		if (held < maxPerParty) return;
		const { cluster } = this.#options;
		throw new AgentUnavailableError(
			`cannot acquire in cluster "${cluster}": this ${caller.kind === "token" ? "account" : "member"} already holds ${held} Leases there, which is the limit`,
			cluster,
		);
	}

	/** `cluster` releases the Lease when the agent stops. */
	begin(caller: Caller, cluster: Pick<Cluster, "release">, acquisition: Acquisition): void {
		const now = this.#options.now();
		const through = { party: partyOf(caller), cluster, acquisition };
		this.#byNonce.set(acquisition.nonce, { through, since: now, aliveAt: now });
	}

	/** Throws LeaseLostError if the Lease was held for too long. */
	renew({ nonce, budget }: Acquisition): void {
		const now = this.#options.now();
		const known = this.#byNonce.get(nonce);
		if (known && now - known.since >= longestHoldMs) {
			throw new LeaseLostError(
				`cannot renew the lease of "${formatBudgetName(budget)}" in cluster "${this.#options.cluster}": ` +
					`it was held for ${longestHoldMs / 60_000} minutes, and others may wait for it`,
			);
		}
		if (known) known.aliveAt = now;
		else this.#byNonce.set(nonce, { since: now, aliveAt: now });
	}

	end({ nonce }: Acquisition): void {
		const held = this.#byNonce.get(nonce);
		this.#byNonce.delete(nonce);
		if (held?.through) this.#options.onEnded?.(this.#options.now() - held.since);
	}

	/** Releases all Leases that were acquired through this agent. Returns the errors. */
	async releaseAll(): Promise<readonly unknown[]> {
		this.#forgetOver();
		const held = [...this.#byNonce.values()].flatMap(({ through }) => (through ? [through] : []));
		this.#byNonce.clear();
		const results = await Promise.allSettled(held.map(({ cluster, acquisition }) => cluster.release(acquisition)));
		return results.flatMap((result): unknown[] => (result.status === "rejected" ? [result.reason] : []));
	}

	#forgetOver(): void {
		const now = this.#options.now();
		for (const [nonce, { aliveAt }] of this.#byNonce) if (now - aliveAt > overAfterMs) this.#byNonce.delete(nonce);
	}
}
