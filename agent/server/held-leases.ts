// The Leases that callers hold through this agent, in this cluster or passed on to another one: how many, for how long, and
// which of them to give back when the agent stops. Whether a Lease is held at all is for the Lease itself to say
// (agent/leases/lease-store.ts); this is about who may go on holding one.
//
// A Lease is held for one round; whoever only renews holds up everyone else, whatever it is called. When the agent stops, the
// connection of its callers ends, and what nobody gives back blocks everyone else for a lease time.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { Acquisition, Cluster } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError, LeaseLostError } from "../../disruption/errors.ts";
import { leaseDurationMs } from "../../disruption/lease/lease.ts";
import type { Caller } from "../peers/caller.ts";
import { partyOf } from "./open-calls.ts";

/**
 * A round keeps what it has while it waits in line at another cluster: twenty rounds before it there, of a count's 8 s and a
 * handover's 2 s with a commit's 5 s each. Then it starts over.
 */
export const longestHoldMs = 5 * 60_000;
/** A round holds the Leases of its budgets in one cluster; a drain of five hundred pods may have as many budgets. */
const maxPerParty = 500;
/** Not renewed for so long, a Lease is over anyway. */
const overAfterMs = 2 * leaseDurationMs;

interface HeldLease {
	/** Through us it was acquired, and for whom; undefined where another agent did that, and we were asked to renew it. */
	readonly through?: {
		readonly party: string;
		readonly cluster: Pick<Cluster, "release">;
		readonly acquisition: Acquisition;
	};
	/** By our own clock, from the first that we saw of it. */
	readonly since: number;
	aliveAt: number;
}

interface HeldLeasesOptions {
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	/** For messages. */
	readonly cluster: string;
	/** Told of each that was acquired through us and has ended. */
	readonly onEnded?: (heldMs: number) => void;
}

export class HeldLeases {
	readonly #options: HeldLeasesOptions;
	readonly #byNonce = new Map<string, HeldLease>();

	constructor(options: HeldLeasesOptions) {
		this.#options = options;
	}

	/** Throws AgentUnavailableError where the caller holds as many Leases as one may. */
	assertRoom(caller: Caller): void {
		this.#forgetOver();
		const party = partyOf(caller);
		let held = 0;
		for (const { through } of this.#byNonce.values()) if (through?.party === party) held++;
		if (held < maxPerParty) return;
		const { cluster } = this.#options;
		throw new AgentUnavailableError(
			`Cannot acquire in cluster "${cluster}": this ${caller.kind === "token" ? "account" : "member"} holds ${held} Leases there, as many as one may`,
			cluster,
		);
	}

	/** `cluster`: which is to be asked to give it back. */
	begin(caller: Caller, cluster: Pick<Cluster, "release">, acquisition: Acquisition): void {
		const now = this.#options.now();
		const through = { party: partyOf(caller), cluster, acquisition };
		this.#byNonce.set(acquisition.nonce, { through, since: now, aliveAt: now });
	}

	/** Throws LeaseLostError where it was held for long enough. */
	renew({ nonce, budget }: Acquisition): void {
		const now = this.#options.now();
		const known = this.#byNonce.get(nonce);
		if (known && now - known.since >= longestHoldMs) {
			throw new LeaseLostError(
				`Cannot renew the lease of "${formatBudgetName(budget)}" in cluster "${this.#options.cluster}": ` +
					`it was held for ${longestHoldMs / 60_000} minutes, and others may wait for it`,
			);
		}
		if (known) known.aliveAt = now;
		else this.#byNonce.set(nonce, { since: now, aliveAt: now });
	}

	/** It was given back or committed. */
	end({ nonce }: Acquisition): void {
		const held = this.#byNonce.get(nonce);
		this.#byNonce.delete(nonce);
		if (held?.through) this.#options.onEnded?.(this.#options.now() - held.since);
	}

	/** Gives back, at once, all that were acquired through us; the problems that came up. */
	async giveBackAll(): Promise<readonly unknown[]> {
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
