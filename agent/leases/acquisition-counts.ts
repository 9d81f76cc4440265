// Counts under an acquisition, and records what the count found: in the Lease, on pods, and for the commit.
//
// Guarantee: a count under a written acquisition is answered only if the acquisition stood when the Lease was last read. Every count is
// answered within the time that the Lease allows, or fails. Findings are written to the Lease only while the acquisition stands.
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

	/** Reads the Lease and counts again under the acquisition. Rejects with LeaseLostError if it does not stand. */
	again(acquisition: Acquisition, question: CountQuestion): Promise<Count> {
		return this.count(acquisition, this.#readHeld(acquisition), question);
	}

	/**
	 * Counts under a written acquisition. `reading` is the Lease as the acquisition wrote it, or as it was read since. Rejects if the count
	 * takes so long that the Lease might expire before its holder receives the answer.
	 */
	count(acquisition: Acquisition, reading: Promise<BudgetLease>, question: CountQuestion): Promise<Count> {
		return this.#inTime(question, () => this.#countNow(acquisition, reading, question));
	}

	#inTime<T>(question: CountQuestion, work: () => Promise<T>): Promise<T> {
		const { counting, clock } = this.#options;
		const { cluster, whySlow } = counting;
		const late = (): Error =>
			new AgentUnavailableError(
				`the agent of cluster "${cluster}" took more than ${longestCountMs / 1000} s to count for budget "${formatBudgetName(question.budget)}": ${whySlow?.() ?? "is its API server slow?"}`,
				cluster,
			);
		return withinTime(work(), { clock, ms: longestCountMs, late });
	}

	/**
	 * Counts from a Lease without a holder, under an acquisition that is not written. Undefined if the view cannot be used, or if the count
	 * found something that must be written before it is used.
	 */
	async countSeen(acquisition: Acquisition, lease: BudgetLease, question: CountQuestion): Promise<Count | undefined> {
		const { observed } = lease.state;
		if (observed === "" || !this.#options.counting.pods.shows(observed)) return undefined;
		return this.#inTime(question, async () => {
			const counted = await countUnder(Promise.resolve(lease), question, this.#options.counting);
			if (counted.from === "list" || mustBeWritten(counted)) return undefined;
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
		const { count, observed, forgottenControllers, newControllers, restored } = counted;
		await this.#markPreActivities(count);
		if (mustBeWritten(counted)) {
			const { lease: latest, result } = await leases.change<"lost" | "full" | "written">(question.budget, (found) => {
				if (!stands(found, acquisition)) return { result: "lost" };
				const remembering = withControllers(withoutControllers(found, forgottenControllers), newControllers);
				const kept = withObserved(remembering, observed);
				// If the Lease was written since, its `observed` may be newer, and the next count handles it.
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

	/** Marks pods that wait for a pre-activity, to show that a run wants to disrupt them. */
	async #markPreActivities({ candidates }: Count): Promise<void> {
		const { api, report } = this.#options.counting;
		const waiting = candidates.filter((state) => state.kind === "present" && state.preActivities.length > 0);
		const results = await Promise.allSettled(waiting.map(({ pod }) => api.markPendingDisruption(pod)));
		for (const result of results) if (result.status === "rejected") report?.(result.reason);
	}
}

/**
 * Whether the Lease has no `observed` or one from before a restore, remembers a controller that is gone, or lacks one that was seen. A
 * controller that was remembered in memory alone would be lost with this process, and unknown to the cluster's other agents.
 */
function mustBeWritten({ observed, forgottenControllers, newControllers, restored }: CountResult): boolean {
	return observed !== "" || forgottenControllers.size > 0 || newControllers.length > 0 || restored !== undefined;
}

function noRoom({ budget, state }: BudgetLease, cluster: string): AgentUnavailableError {
	return new AgentUnavailableError(
		`the Lease of budget "${formatBudgetName(budget)}" in cluster "${cluster}" has no room for the controllers of its pods: ` +
			`it holds ${state.reservations.length} reservations, and is counted again when some of them end`,
		cluster,
	);
}
