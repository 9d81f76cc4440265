// Finds which budgets cover each pod, as a run does (disruption/round/coverage.ts), or why that is unknown.
import type { V1Pod } from "@kubernetes/client-node";
import { findCovering } from "../../../disruption/budget/coverage-judgement.ts";
import { CoverageLists, coverPod } from "../../../disruption/round/coverage.ts";
import type { RoundBudget } from "../../../disruption/budget/budget.ts";
import { AgentUnavailableError, isDomainError } from "../../../disruption/errors.ts";
import type { RoundRuntime } from "../../../disruption/round/round-runtime.ts";
import { createJob, createTimeout, type EvictionJob } from "../../evictions/eviction-job.ts";
import { podReader } from "../../evictions/send-eviction.ts";
import { unreadableIn } from "../../fleet/budget-members.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import type { Finding } from "./explanation.ts";
import type { FleetOfView, FleetView } from "./fleet-view.ts";

export interface PodToExplain {
	readonly context: KubeContext;
	readonly pod: V1Pod;
	/** By the runtime's clock, before the pod was requested. */
	readonly readAt: number;
}

export interface CoveredPod extends PodToExplain {
	readonly job: EvictionJob;
	/** All covering budgets, or only the known ones if `keeps` is set. */
	readonly budgets: readonly RoundBudget[];
	/** Why the covering budgets are not all known. It blocks the pod, unless the pod is terminating or has not started. */
	readonly keeps?: Finding;
	readonly isGone: boolean;
}

export async function coverPods(
	pods: readonly PodToExplain[],
	{ fleet, problems }: FleetView,
	runtime: Pick<RoundRuntime, "now" | "sleep">,
): Promise<readonly CoveredPod[]> {
	const named = pods.map((each) => ({ ...each, job: jobOf(each), budgets: [], isGone: false }));
	if (problems.length > 0) {
		const keeps: Finding = {
			verdict: "Unknown",
			reason: "PeerUnreachable",
			message: "what its budgets allow is not known while members give no answer, and counts as nothing",
			usedBy: [],
		};
		const known = await knownBudgets(pods, fleet);
		return named.map((each) => ({ ...each, budgets: known(each), keeps }));
	}
	if (!fleet) return named;
	const lists = new CoverageLists(fleet, runtime);
	const deps = { lists, memberIds: () => fleet.members.map(({ id }) => id), runtime, mayBeginRound: false };
	return Promise.all(
		named.map(async (each): Promise<CoveredPod> => {
			if (!fleet.memberOf(each.context.name)) return each;
			try {
				return await covered(each, deps);
			} catch (error) {
				if (!isDomainError(error)) throw error;
				const reason = error instanceof AgentUnavailableError ? "PeerUnreachable" : "AgentRefused";
				const message = `cannot tell which budgets cover it: ${error.message}`;
				return { ...each, keeps: { verdict: "Unknown", reason, message, usedBy: [] } };
			}
		}),
	);
}

async function covered(each: CoveredPod, deps: Omit<Parameters<typeof coverPod>[1], "read">): Promise<CoveredPod> {
	const found = await coverPod(each.job, { ...deps, read: podReader(each.job) });
	switch (found.kind) {
		case "uncovered":
			return each;
		case "gone":
			return { ...each, isGone: true };
		case "covered":
			return { ...each, budgets: found.budgets };
		case "fleetsDiffer":
			return {
				...each,
				keeps: { verdict: "Refused", reason: "FleetsDiffer", message: found.message, usedBy: [] },
			};
		case "unreadable": {
			const { budget, message } = found;
			const clusters = unreadableIn(budget, deps.lists.lastListed(each.pod.metadata?.namespace ?? ""));
			const reason = "InvalidBudget";
			return { ...each, keeps: { verdict: "Refused", reason, message, budget, clusters, usedBy: [] } };
		}
		case "tooSlow":
			return {
				...each,
				keeps: { verdict: "Unknown", reason: "PeerUnreachable", message: found.message, usedBy: [] },
			};
	}
}

/** Finds budgets in the lists of the members that answer. For display only. */
async function knownBudgets(
	pods: readonly PodToExplain[],
	fleet: FleetOfView | undefined,
): Promise<(pod: PodToExplain) => readonly RoundBudget[]> {
	const namespaces = [...new Set(pods.map(({ pod }) => pod.metadata?.namespace ?? ""))].toSorted();
	const lists = await Promise.all(
		(fleet?.members ?? [])
			.filter(({ id }) => fleet?.descriptions.has(id))
			.map(async (member) => {
				try {
					return (await member.listBudgets(namespaces)).budgets;
				} catch (error) {
					if (isDomainError(error)) return [];
					throw error;
				}
			}),
	);
	return ({ pod: { metadata } }) => {
		const of = { namespace: metadata?.namespace ?? "", labels: metadata?.labels ?? {} };
		return findCovering(lists.flat(), of).budgets;
	};
}

function jobOf({ context, pod, readAt }: PodToExplain): EvictionJob {
	return createJob(pod, { context, timeout: createTimeout(0, ""), gracePeriodSeconds: -1, readAt });
}
