// Counts under an acquisition that stands, and records what the count found: in the Lease, at pods, and for the commit.
//
// Guarantee: a count is answered only if its acquisition still stood when it was last read, and only within the time that the Lease allows.
// Further findings are written to that Lease only while the acquisition stands.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { Acquisition, Count } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import {
	type BudgetLease,
	longestCountMs,
	fits,
	stands,
	withControllers,
	withObserved,
	withObservedFromRestore,
	withoutControllers,
} from "../../disruption/lease/lease.ts";
import type { Clock } from "../process/clock.ts";
import { withinTime } from "../process/within-time.ts";
import type { CommitCheck } from "./commit-check.ts";
import { type CountOptions, type CountQuestion, type CountResult, countUnder } from "./count.ts";
import type { LeaseStore } from "./lease-store.ts";
import { lostLease } from "./lost-lease.ts";

interface AcquisitionCountsOptions {
	readonly counting: CountOptions;
	readonly leases: Pick<LeaseStore, "read" | "change">;
	/** Receives the findings of the count, so that the commit need not request them again. */
	readonly commitCheck: Pick<CommitCheck, "counted">;
	readonly clock: Pick<Clock, "after">;
}

export class AcquisitionCounts {
	readonly #options: AcquisitionCountsOptions;

	constructor(options: AcquisitionCountsOptions) {
		this.#options = options;
	}

	/** Counts again under an acquisition that this process does not know; rejects with LeaseLostError if it does not stand. */
	again(acquisition: Acquisition, question: CountQuestion): Promise<Count> {
		return this.count(acquisition, this.#readHeld(acquisition), question);
	}

	/**
	 * `reading`: the Lease as the acquisition wrote it, or as it was read since. Rejects if the count takes so long that the Lease might
	 * expire before its holder receives the answer.
	 */
	count(acquisition: Acquisition, reading: Promise<BudgetLease>, question: CountQuestion): Promise<Count> {
		return this.#inTime(question, () => this.#countNow(acquisition, reading, question));
	}

	#inTime<T>(question: CountQuestion, work: () => Promise<T>): Promise<T> {
		const { counting, clock } = this.#options;
		const { cluster } = counting;
		const late = (): Error =>
			new AgentUnavailableError(
				`the agent of cluster "${cluster}" took more than ${longestCountMs / 1000} s to count for budget "${formatBudgetName(question.budget)}": is its API server slow?`,
				cluster,
			);
		return withinTime(work(), { clock, ms: longestCountMs, late });
	}

	/**
	 * Counts from a Lease without a holder, under an acquisition that is not written. Undefined if the count found something that must be
	 * written before anyone relies on it.
	 */
	async countSeen(acquisition: Acquisition, lease: BudgetLease, question: CountQuestion): Promise<Count | undefined> {
		if (lease.state.observed === "") return undefined;
		return this.#inTime(question, async () => {
			const counted = await countUnder(Promise.resolve(lease), question, this.#options.counting);
			if (mustBeWritten(counted)) return undefined;
			await this.#markPreActivities(counted.count);
			this.#options.commitCheck.counted(acquisition, counted);
			return counted.count;
		});
	}

	async #readHeld(acquisition: Acquisition): Promise<BudgetLease> {
		const lease = await this.#options.leases.read(acquisition.budget);
		if (!lease || !stands(lease, acquisition)) throw lostLease(acquisition, lease, this.#options.counting.cluster);
		return lease;
	}

	async #countNow(acquisition: Acquisition, reading: Promise<BudgetLease>, question: CountQuestion): Promise<Count> {
		const { counting, leases, commitCheck } = this.#options;
		const { cluster } = counting;
		const counted = await countUnder(reading, question, counting);
		const { count, listedAt, forgottenControllers, newControllers, restored } = counted;
		await this.#markPreActivities(count);
		// This write is needed only if the Lease is new to the view, comes from a backup, or has lost or gained a controller.
		if (mustBeWritten(counted)) {
			const { lease: latest, result } = await leases.change<"lost" | "full" | "written">(question.budget, (found) => {
				if (!stands(found, acquisition)) return { result: "lost" };
				const remembering = withControllers(withoutControllers(found, forgottenControllers), newControllers);
				const kept = withObserved(remembering, listedAt);
				// If the Lease was written since, its `observed` may be newer: the next count handles it.
				const isAsRead = found.resourceVersion === restored?.leaseVersion;
				const write = isAsRead ? withObservedFromRestore(kept, restored.listedAt) : kept;
				return fits(write) ? { write, result: "written" } : { result: "full" };
			});
			if (result === "lost") throw lostLease(acquisition, latest, cluster);
			if (result === "full") throw noRoom(latest, cluster);
		}
		commitCheck.counted(acquisition, counted);
		return count;
	}

	/** Marks pods that their pre-activities hold back, to show that a run wants to disrupt them. */
	async #markPreActivities({ candidates }: Count): Promise<void> {
		const { api, report } = this.#options.counting;
		const waiting = candidates.filter((state) => state.kind === "present" && state.preActivities.length > 0);
		const results = await Promise.allSettled(waiting.map(({ pod }) => api.markPendingDisruption(pod)));
		for (const result of results) if (result.status === "rejected") report?.(result.reason);
	}
}

/**
 * True if the Lease is new to the view, comes from a backup, remembers a controller that is gone, or misses one that was seen. In memory
 * alone, such a controller would be lost with this process, and the cluster's other agents would not know it.
 */
function mustBeWritten({ listedAt, forgottenControllers, newControllers, restored }: CountResult): boolean {
	return listedAt !== "" || forgottenControllers.size > 0 || newControllers.length > 0 || restored !== undefined;
}

function noRoom({ budget, state }: BudgetLease, cluster: string): AgentUnavailableError {
	return new AgentUnavailableError(
		`the Lease of budget "${formatBudgetName(budget)}" in cluster "${cluster}" has no room for the controllers of its pods: ` +
			`it holds ${state.reservations.length} reservations, and is counted again when some of them end`,
		cluster,
	);
}
