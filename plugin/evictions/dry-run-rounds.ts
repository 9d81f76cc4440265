// A pod under budgets, in a dry run on the server: asked for once, as a round would judge it. Where it may go, the API
// server is asked too; where it would wait for others, nothing is asked of that, and whoever reads knows for what.
//
// Guarantee: no Lease is taken and nothing is reserved; a member without an answer is never "may go".
import type { RoundBudget } from "../../disruption/decide.ts";
import {
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
	isAgentRefusal,
} from "../../disruption/errors.ts";
import { usedByNames, usedBySuffix } from "../events/used-by-text.ts";
import type { EvictionJob } from "./eviction-job.ts";
import type { RoundsDependencies } from "./eviction-rounds.ts";
import { tryEviction } from "./native-eviction.ts";
import { type FailedPod, failedPod } from "./pod-outcome.ts";
import { PretendedGrants, type PretendedVerdict, pretendedHolder } from "./pretended-grants.ts";
import type { TryOutcome } from "./try-outcome.ts";
import { pretendedWaitEvent, type Wait, waitOf } from "./waiting-event.ts";

type DryRunDependencies = Pick<
	RoundsDependencies,
	"fleet" | "options" | "runtime" | "reachability" | "limit" | "stop" | "emit"
>;

/** While an agent has not seen a pod yet, or gives no answer. */
const lookAgainAfterMs = 1_000;

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

	/** `budgets`: all that cover the pod. */
	async tryEviction(job: EvictionJob, budgets: readonly RoundBudget[]): Promise<TryOutcome> {
		const { fleet, stop, reachability } = this.#deps;
		const member = fleet.memberOf(job.context.name);
		if (!member) throw new Error(`context ${job.context.name} has a covered pod but is no member of the fleet`);
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

	async #apply(job: EvictionJob, verdict: PretendedVerdict): Promise<TryOutcome> {
		switch (verdict.kind) {
			case "goes":
				if (verdict.after) this.#deps.emit(pretendedWaitEvent(job, waitOf(job, verdict.after, pretendedHolder)));
				return tryEviction(job, {}, this.#deps);
			case "free":
				return verdict.why === "Gone" ? { kind: "gone" } : tryEviction(job, {}, this.#deps);
			case "waiting": {
				const { reason, message } = verdict;
				if (reason === "CoverageChanged") return { kind: "again", afterMs: 0, reason, message };
				// Its agent is about to see it.
				if (reason === "PodUnseen") return { kind: "again", afterMs: lookAgainAfterMs, reason, message };
				return this.#wouldWait(job, waitOf(job, verdict, pretendedHolder));
			}
			case "refused": {
				const { reason, message, retry } = verdict;
				// Its members have to be asked who they are.
				if (reason === "FleetsDiffer") return { kind: "again", afterMs: 0, reason, message };
				return retry ? this.#wouldWait(job, verdict) : failedPod(job, verdict);
			}
		}
	}

	#failed(job: EvictionJob, error: unknown): TryOutcome {
		if (error instanceof AgentUnavailableError) {
			this.#deps.reachability.failed(error);
			const { message } = error;
			return { kind: "again", afterMs: lookAgainAfterMs, reason: "PeerUnreachable", message };
		}
		if (error instanceof FleetsDifferError) {
			return { kind: "again", afterMs: 0, reason: error.reason, message: error.message };
		}
		if (error instanceof GarbledLeaseError) return this.#wouldWait(job, error);
		if (isAgentRefusal(error)) return { kind: "agentRefused", message: error.message };
		throw error;
	}

	/** Somebody else has to make way first, and nobody knows when. */
	#wouldWait(job: EvictionJob, wait: Pick<Wait, "reason" | "message" | "usedBy">): TryOutcome {
		this.#deps.emit(pretendedWaitEvent(job, wait));
		return wouldWait(job, wait);
	}
}

/** It is not evicted, and a run that is none would wait. */
export function wouldWait(
	job: EvictionJob,
	{ reason, message, usedBy = [] }: Pick<Wait, "reason" | "message" | "usedBy">,
): FailedPod {
	const waitedFor = `${message}${usedBySuffix(usedByNames(usedBy))}`;
	return { ...failedPod(job, { reason, message: `it would wait: ${message}` }), waitedFor };
}
