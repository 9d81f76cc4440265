// When this agent was asked for the counts that commits rest on.
//
// Guarantee: the time found for an acquisition is when this process was asked for the count that its holder commits, or
// earlier: of a call that was doubled, the first one counts. A commit looks at healthy pods at most again, never at expected
// pods or budgets, and renewals keep a Lease for as long as they come. Without an end, a plugin that was stopped between
// count and commit could go on an hour later.
// Assumption: a double of Acquire or Count comes to the process that the call came to, or to a process that is not asked to
// commit. Neither the plugin nor an agent sends these calls twice.
import type { Acquisition } from "../../disruption/budget/cluster.ts";
import { leaseDurationMs } from "../../disruption/lease/lease.ts";

/** No commit rests on a count that was asked for longer ago. Twice what a Lease lasts without a renewal. */
export const longestCountAgeMs = 2 * leaseDurationMs;

/** 200 bytes each. The oldest are forgotten first, and their commits do not stand. */
const mostRemembered = 20_000;

export class AskedCounts {
	/** By what tells the counts of a Lease from each other, oldest first. */
	readonly #askedAt = new Map<string, number>();

	/** The acquisition stands, and its count was asked for at this time of this process's clock. */
	remember(acquisition: Acquisition, askedAt: number): void {
		const key = keyOf(acquisition);
		if (!this.#askedAt.has(key)) this.#put(key, askedAt);
	}

	/** Counted again under it. A plugin of 0.1 gives its counts no ids: of those the last one counts. */
	rememberAgain(acquisition: Acquisition, askedAt: number): void {
		if (acquisition.countId === undefined) this.#askedAt.delete(keyOf(acquisition));
		this.remember(acquisition, askedAt);
	}

	/** Undefined where this process was not asked, or has forgotten it. */
	find(acquisition: Acquisition): number | undefined {
		return this.#askedAt.get(keyOf(acquisition));
	}

	#put(key: string, askedAt: number): void {
		this.#askedAt.set(key, askedAt);
		for (const oldest of this.#askedAt.keys()) {
			if (this.#askedAt.size <= mostRemembered) break;
			this.#askedAt.delete(oldest);
		}
	}
}

/** A hold that was not written has an id of its own for each answer; of the others the caller tells one for each further count. */
function keyOf({ leaseUid, nonce, countId, unwritten }: Acquisition): string {
	return `${leaseUid} ${unwritten?.lease ?? countId ?? nonce}`;
}
