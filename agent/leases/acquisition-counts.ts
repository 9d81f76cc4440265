// Counts under an acquisition that stands, and what they leave behind: in the Lease, at pods, and for the commit.
//
// Guarantee: a count is answered only where its acquisition still stood when it was last looked at, and within the time that
// the Lease leaves it; what it found out besides is written to that Lease only while the acquisition stands.
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
import type { ClusterApi } from "../cluster-api/cluster-api.ts";
import type { Clock } from "../process/clock.ts";
import { withinTime } from "../process/within-time.ts";
import type { CommitCheck } from "./commit-check.ts";
import { type CountOptions, type CountQuestion, type CountResult, countUnder } from "./count.ts";
import type { LeaseStore } from "./lease-store.ts";
import { lostLease } from "./lost-lease.ts";

interface AcquisitionCountsOptions extends CountOptions {
	readonly api: ClusterApi;
	readonly leases: Pick<LeaseStore, "read" | "change">;
	/** Is told what was found, so that the commit need not ask again. */
	readonly commitCheck: Pick<CommitCheck, "counted">;
	readonly clock: Pick<Clock, "after">;
}

export class AcquisitionCounts {
	readonly #options: AcquisitionCountsOptions;

	constructor(options: AcquisitionCountsOptions) {
		this.#options = options;
	}

	/** Again, under an acquisition of which nothing is known here; rejects with LeaseLostError where it does not stand. */
	again(acquisition: Acquisition, question: CountQuestion): Promise<Count> {
		return this.count(acquisition, this.#readHeld(acquisition), question);
	}

	/** `reading`: the Lease as the acquisition wrote it, or as it is read since. Fails where it takes so long that the Lease might end before its holder hears of it. */
	count(acquisition: Acquisition, reading: Promise<BudgetLease>, question: CountQuestion): Promise<Count> {
		return this.#inTime(question, () => this.#countNow(acquisition, reading, question));
	}

	#inTime<T>(question: CountQuestion, work: () => Promise<T>): Promise<T> {
		const { cluster, clock } = this.#options;
		const late = (): Error =>
			new AgentUnavailableError(
				`The agent of cluster "${cluster}" took more than ${longestCountMs / 1000} s to count for budget "${formatBudgetName(question.budget)}": is its API server slow?`,
				cluster,
			);
		return withinTime(work(), { clock, ms: longestCountMs, late });
	}

	/**
	 * From a Lease that nobody holds, under an acquisition that is not written; undefined where the count found out what has to
	 * be written before anybody may rely on it.
	 */
	async countSeen(acquisition: Acquisition, lease: BudgetLease, question: CountQuestion): Promise<Count | undefined> {
		if (lease.state.observed === "") return undefined;
		return this.#inTime(question, async () => {
			const counted = await countUnder(Promise.resolve(lease), question, this.#options);
			if (mustBeWritten(counted)) return undefined;
			await this.#markPreActivities(counted.count);
			this.#options.commitCheck.counted(acquisition, counted);
			return counted.count;
		});
	}

	async #readHeld(acquisition: Acquisition): Promise<BudgetLease> {
		const lease = await this.#options.leases.read(acquisition.budget);
		if (!lease || !stands(lease, acquisition)) throw lostLease(acquisition, lease, this.#options.cluster);
		return lease;
	}

	async #countNow(acquisition: Acquisition, reading: Promise<BudgetLease>, question: CountQuestion): Promise<Count> {
		const { leases, commitCheck, cluster } = this.#options;
		const counted = await countUnder(reading, question, this.#options);
		const { count, listedAt, forgottenControllers, newControllers, restored } = counted;
		await this.#markPreActivities(count);
		// Only a Lease that is new to the view, comes from a backup, or has lost or gained a controller costs this write.
		if (mustBeWritten(counted)) {
			const { lease: latest, result } = await leases.change<"lost" | "full" | "written">(question.budget, (found) => {
				if (!stands(found, acquisition)) return { result: "lost" };
				const remembering = withControllers(withoutControllers(found, forgottenControllers), newControllers);
				const kept = withObserved(remembering, listedAt);
				// A Lease that was written since may say what was seen since: then the next count sees to it.
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

	/** Tells pods whose pre-activities hold them back that somebody wants to disrupt them. */
	async #markPreActivities({ candidates }: Count): Promise<void> {
		const { api, report } = this.#options;
		const waiting = candidates.filter((state) => state.kind === "present" && state.preActivities.length > 0);
		const results = await Promise.allSettled(waiting.map(({ pod }) => api.markPendingDisruption(pod)));
		for (const result of results) if (result.status === "rejected") report?.(result.reason);
	}
}

/**
 * The Lease is new to the view, comes from a backup, remembers a controller that is gone, or does not remember one that was
 * seen: kept only in memory, that one would be lost with this process, and unknown to the cluster's other agents.
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
