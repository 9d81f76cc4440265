// Judges a covered pod in a dry run on the server, as a round would judge it now. If the pod could be evicted, now or once other pods of
// this run are back up, it sends a dry run of the eviction. Otherwise it sends nothing, and reports what the pod would wait for.
//
// Guarantee: no Lease is taken and nothing is reserved. A member without an answer never means that the pod can be evicted.
import type { RoundBudget } from "../../disruption/budget/budget.ts";
import { askAgainAfterMs, classifyFailure } from "../../disruption/budget/classify-failure.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import { usedByNames, usedBySuffix } from "../events/used-by-text.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Reachability } from "../fleet/reachability.ts";
import type { EvictionJob } from "./eviction-job.ts";
import { type EvictionStep, stepAfter } from "./eviction-step.ts";
import { type FreeEvictionDependencies, sendFreely } from "./free-eviction.ts";
import { type FailedPod, failedPod } from "./pod-outcome.ts";
import { PretendedGrants, type PretendedVerdict, pretendedHolder } from "./pretended-grants.ts";
import { pretendedWaitEvent, type Wait, waitOf } from "./waiting-event.ts";

interface DryRunDependencies extends FreeEvictionDependencies {
	readonly fleet: Pick<Fleet, "members" | "memberOf">;
	readonly runtime: RoundRuntime;
	readonly reachability: Reachability;
}

export class DryRunRounds {
	readonly #grants: PretendedGrants;
	readonly #deps: DryRunDependencies;

	constructor(deps: DryRunDependencies) {
		this.#deps = deps;
		this.#grants = new PretendedGrants(
			() => deps.fleet.members,
			(ms) => deps.runtime.sleep(ms, deps.stop),
		);
	}

	/** `budgets` are all budgets that cover the pod. */
	async judgeDryRun(job: EvictionJob, budgets: readonly RoundBudget[]): Promise<EvictionStep> {
		const { fleet, stop, reachability } = this.#deps;
		const member = fleet.memberOf(job.context.name);
		if (!member) throw new Error(`context ${job.context.name} has a covered pod but is not a member of the fleet`);
		let verdict: PretendedVerdict;
		try {
			const { pod, staysAway = false } = job;
			verdict = await this.#grants.ask({ clusterId: member.id, pod, staysAway }, budgets);
		} catch (error) {
			if (stop.aborted) return { kind: "stopped" };
			return this.#failed(job, error);
		}
		reachability.answered();
		return this.#apply(job, verdict);
	}

	async #apply(job: EvictionJob, verdict: PretendedVerdict): Promise<EvictionStep> {
		switch (verdict.kind) {
			case "goes":
				if (verdict.after) this.#deps.emit(pretendedWaitEvent(job, waitOf(job, verdict.after, pretendedHolder)));
				return sendFreely(job, {}, this.#deps);
			case "free":
				return verdict.why === "Gone" ? { kind: "gone" } : sendFreely(job, {}, this.#deps);
			case "waiting": {
				const { reason, message } = verdict;
				if (reason === "CoverageChanged") return { kind: "again", afterMs: 0, reason, message };
				// The agent's view does not have the pod yet.
				if (reason === "PodUnseen") return { kind: "again", afterMs: askAgainAfterMs, reason, message };
				return this.#wouldWait(job, waitOf(job, verdict, pretendedHolder));
			}
			case "refused": {
				const { reason, message, retry } = verdict;
				// The caller asks the fleet's members again.
				if (reason === "FleetsDiffer") return { kind: "again", afterMs: 0, reason, message };
				return retry ? this.#wouldWait(job, verdict) : failedPod(job, verdict);
			}
		}
	}

	#failed(job: EvictionJob, error: unknown): EvictionStep {
		const failure = classifyFailure(error);
		if (!failure) throw error;
		if (error instanceof AgentUnavailableError) this.#deps.reachability.failed(error);
		return failure.reason === "GarbledLease" ? this.#wouldWait(job, failure) : stepAfter(job, failure);
	}

	#wouldWait(job: EvictionJob, wait: Pick<Wait, "reason" | "message" | "usedBy">): EvictionStep {
		this.#deps.emit(pretendedWaitEvent(job, wait));
		return wouldWait(job, wait);
	}
}

/** Returns the failure of a pod that a real run would not evict yet. */
export function wouldWait(
	job: EvictionJob,
	{ reason, message, usedBy = [] }: Pick<Wait, "reason" | "message" | "usedBy">,
): FailedPod {
	const waitedFor = `${message}${usedBySuffix(usedByNames(usedBy))}`;
	return { ...failedPod(job, { reason, message: `it would wait: ${message}` }), waitedFor };
}
