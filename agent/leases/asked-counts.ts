// Remembers when this agent was asked for the counts on which commits depend.
//
// Guarantee: the time found for an acquisition is when this process was asked for the count that its holder commits, or earlier. For a
// duplicated call, the first one counts. A commit counts at most the healthy pods again, never the expected pods, and does not read the
// bounds of the budgets again. Renewals keep a written hold, and an optimistic one needs none. So without this limit, a plugin that was
// stopped between count and commit could commit an hour later.
// Assumption: a duplicate of Acquire or Count reaches the process that the original reached, or a process that is not asked to commit.
// Neither the plugin nor an agent sends these calls twice.
import type { Acquisition } from "../../disruption/budget/cluster.ts";
import { leaseDurationMs } from "../../disruption/lease/lease.ts";

/** The maximum age of a count at its commit, since it was requested: twice the lease duration. */
export const longestCountAgeMs = 2 * leaseDurationMs;

/** How many counts are remembered, 200 bytes each. If the oldest count was forgotten, its commit does not stand. */
const mostRemembered = 20_000;

export class AskedCounts {
	/** By keyOf(), oldest first. */
	readonly #askedAt = new Map<string, number>();

	/** Records when the acquisition's count was requested, by this process's clock. A duplicate does not change the time. */
	remember(acquisition: Acquisition, askedAt: number): void {
		const key = keyOf(acquisition);
		if (!this.#askedAt.has(key)) this.#put(key, askedAt);
	}

	/** Records a repeated count. A plugin of version 0.1 gives its counts no ids, so for those the last one counts. */
	rememberAgain(acquisition: Acquisition, askedAt: number): void {
		if (acquisition.countId === undefined) this.#askedAt.delete(keyOf(acquisition));
		this.remember(acquisition, askedAt);
	}

	/** Returns when the count was requested. Undefined if this process was not asked for it, or has forgotten it. */
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

/** The agent gives each answer with an optimistic hold its own id. For other holds, the caller gives each repeated count an id. */
function keyOf({ leaseUid, nonce, countId, unwritten }: Acquisition): string {
	return `${leaseUid} ${unwritten?.lease ?? countId ?? nonce}`;
}
