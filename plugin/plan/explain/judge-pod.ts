// Finds what blocks one pod: first our budgets, judged by decide(), then Kubernetes' own. If the agent and the API server contradict each
// other about the pod, it is not reported as allowed.
import type { V1Pod } from "@kubernetes/client-node";
import { formatBudgetName } from "../../../disruption/budget/budget.ts";
import type { CandidateState } from "../../../disruption/budget/cluster.ts";
import type { EvictionJob } from "../../evictions/eviction-job.ts";
import { waitOf } from "../../evictions/waiting-event.ts";
import { isFinished, isReplaced, readyCondition } from "../../kubernetes/pod-status.ts";
import type { PlanBudget, PlanPod } from "../drain-plan.ts";
import { podReference } from "../fleet-budgets.ts";
import { nativeState } from "../judge-pod.ts";
import { type NativeBudgets, nativeCoverage } from "../native-budgets.ts";
import { type PlanJudgement, SimulatedCounts } from "../simulated-counts.ts";
import type { Finding } from "./explanation.ts";

export interface JudgedPod {
	readonly job: EvictionJob;
	readonly pod: V1Pod;
	readonly clusterId: string;
	readonly budgets: readonly PlanBudget[];
}

export function judgeUnderBudgets(judged: JudgedPod): Finding | undefined {
	const planned = planPodOf(judged);
	return keepsOf(judged, planned, new SimulatedCounts(judged.budgets)) ?? contradiction(judged, planned);
}

/** Returns the pod in a plan's form, so that decide() can also judge it after others were evicted. */
export function planPodOf({ pod, clusterId, budgets }: JudgedPod): PlanPod {
	const states = budgets.map(({ key, counted }): [string, CandidateState] => {
		const found = counted.counts
			.filter((count) => count.clusterId === clusterId)
			.flatMap(({ candidates }) => candidates.filter((state) => state.pod.uid === pod.metadata?.uid));
		// Two answers about one pod count as none.
		const [only] = found.length === 1 ? found : [];
		return [key, only ?? { kind: "unseen", pod: podReference(pod) }];
	});
	return { candidate: { clusterId, pod: podReference(pod) }, states: new Map(states), replaced: isReplaced(pod) };
}

function keepsOf({ job }: Pick<JudgedPod, "job">, pod: PlanPod, counts: SimulatedCounts): Finding | undefined {
	const first = counts.judge(pod);
	if (first.kind === "may go") return undefined;
	if (first.kind === "never") return { verdict: "Refused", usedBy: [], ...first.never };
	const { reason, message, budget, usedBy = [] } = waitOf(job, first.waiting, "");
	let judgement: PlanJudgement = first;
	// Check whether the pod could be evicted if every pod that can be healthy were healthy.
	while (judgement.kind === "waiting" && judgement.waiting.reason === "BudgetExhausted") {
		if (!counts.recover(pod, judgement)) {
			const never = counts.neverMet(judgement);
			return { verdict: "Refused", ...never, ...(budget !== undefined && { budget }), usedBy };
		}
		judgement = counts.judge(pod);
	}
	return { verdict: "Waits", reason, message, ...(budget !== undefined && { budget }), usedBy };
}

function contradiction({ pod }: JudgedPod, { states }: PlanPod): Finding | undefined {
	const name = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
	const says = [...states.values()].flatMap((state) => {
		if (state.kind === "gone") return ["is gone"];
		if (state.kind === "free" && state.why === "Terminating") {
			return pod.metadata?.deletionTimestamp === undefined ? ["is terminating"] : [];
		}
		if (state.kind === "free") return isFinished(pod) ? [] : ["has finished"];
		return state.kind === "present" && !state.healthy && readyCondition(pod) ? ["is not healthy"] : [];
	});
	const [first] = says;
	if (first === undefined) return undefined;
	const message = `its cluster's agent says that pod ${name} ${first}, and its API server does not: ask again`;
	return { verdict: "Unknown", reason: "PodUnseen", message, usedBy: [] };
}

/** The eviction API checks these budgets after ours. */
export function judgeUnderNative(
	{ job, pod, clusterId }: Pick<JudgedPod, "job" | "pod" | "clusterId">,
	native: NativeBudgets,
): Finding | undefined {
	const isAsked = nativeCoverage(pod, native.budgets);
	const runs = pod.status?.phase === "Running" || pod.status?.phase === "Unknown";
	const [problem] = native.problems;
	if (problem !== undefined && runs && pod.metadata?.deletionTimestamp === undefined) {
		const message = `cannot tell what its cluster's own budgets allow: ${problem}`;
		return { verdict: "Unknown", reason: "Forbidden", message, usedBy: [] };
	}
	if (isAsked.kind === "none") return undefined;
	if (isAsked.kind === "never") return { verdict: "Refused", usedBy: [], ...isAsked.never };
	const { budget, disruptionsAllowed, desiredHealthy, isCounted, name } = isAsked.budget;
	const waits = (message: string): Finding => ({ verdict: "Waits", reason: "DisruptionBudget", message, usedBy: [] });
	const text = `PodDisruptionBudget ${formatBudgetName(name)}`;
	if (!isCounted) return waits(`${text} was changed, and its cluster has not counted it since`);
	const states = new Map([[budget.key, nativeState(pod)]]);
	const planned: PlanPod = {
		candidate: { clusterId, pod: podReference(pod) },
		states,
		replaced: isReplaced(pod),
	};
	const keeps = keepsOf({ job }, planned, new SimulatedCounts([budget]));
	if (keeps) {
		const { budget: _, ...finding } = keeps;
		const message = keeps.message.replace(`budget ${formatBudgetName(budget.counted.budget.name)}`, text);
		return keeps.verdict === "Waits" ? waits(message) : { ...finding, message };
	}
	// As in the eviction API, a pod that is not ready costs nothing while enough others are ready. This does not hold if none are required.
	const costs = readyCondition(pod) !== undefined || desiredHealthy === 0;
	if (!costs || disruptionsAllowed > 0) return undefined;
	return waits(`${text} allows no disruption until its cluster has counted the evictions before`);
}
