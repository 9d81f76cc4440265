// Who holds how many Leases through this agent, and for how long. A Lease is held for one round; whoever only renews holds up
// everyone else, whatever it is called.
import { formatBudgetName } from "../../disruption/budget.ts";
import type { Acquisition } from "../../disruption/cluster.ts";
import { AgentUnavailableError, LeaseLostError } from "../../disruption/errors.ts";
import { leaseDurationMs } from "../../disruption/lease.ts";
import type { Caller } from "./caller.ts";
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

interface Hold {
	/** Unknown where it was acquired through another agent. */
	readonly party: string;
	/** By our own clock, from the first that we saw of it. */
	readonly since: number;
	aliveAt: number;
}

export interface HoldsOptions {
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	/** For messages. */
	readonly cluster: string;
}

export class Holds {
	readonly #options: HoldsOptions;
	readonly #byNonce = new Map<string, Hold>();

	constructor(options: HoldsOptions) {
		this.#options = options;
	}

	/** Throws AgentUnavailableError where the caller holds as many Leases as one may. */
	assertRoom(caller: Caller): void {
		this.#forgetOver();
		const party = partyOf(caller);
		let held = 0;
		for (const hold of this.#byNonce.values()) if (hold.party === party) held++;
		if (held < maxPerParty) return;
		const { cluster } = this.#options;
		throw new AgentUnavailableError(
			`Cannot acquire in cluster "${cluster}": this ${caller.kind === "token" ? "account" : "member"} holds ${held} Leases there, as many as one may`,
			cluster,
		);
	}

	begin(caller: Caller, { nonce }: Acquisition): void {
		const now = this.#options.now();
		this.#byNonce.set(nonce, { party: partyOf(caller), since: now, aliveAt: now });
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
		else this.#byNonce.set(nonce, { party: "", since: now, aliveAt: now });
	}

	end({ nonce }: Acquisition): void {
		this.#byNonce.delete(nonce);
	}

	#forgetOver(): void {
		const now = this.#options.now();
		for (const [nonce, { aliveAt }] of this.#byNonce) if (now - aliveAt > overAfterMs) this.#byNonce.delete(nonce);
	}
}
