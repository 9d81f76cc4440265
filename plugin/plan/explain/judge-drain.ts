// Judges a node's pods in the order of a drain, with a plan's simulation. So an explanation refuses what a plan calls impossible.
import type { V1Pod } from "@kubernetes/client-node";
import { formatBudgetName } from "../../../disruption/budget/budget.ts";
import { drainOrder } from "../../drain/drain.ts";
import type { PlanBudget, PlanPod } from "../drain-plan.ts";
import { simulateDrain } from "../simulate-drain.ts";
import { SimulatedCounts } from "../simulated-counts.ts";
import { type ExplainedPod, worstFirst } from "./explanation.ts";

export interface JudgedForDrain {
	readonly pod: V1Pod;
	readonly explained: ExplainedPod;
	readonly planned: PlanPod;
	/** All budgets that cover the pod. Undefined if some are unknown or could not be counted. */
	readonly budgets: readonly PlanBudget[] | undefined;
	/** False if budgets do not matter, because the pod is terminating, has finished or has not started. */
	readonly costs: boolean;
}

export function judgeDrain(
	pods: readonly JudgedForDrain[],
	node: { readonly name: string; readonly agentNamespaces: readonly string[] },
): readonly ExplainedPod[] {
	const never = neverGoing(pods, node);
	return inLine(pods).map((explained) => {
		const reason = never.get(explained.uid);
		if (!reason || explained.verdict === "Refused") return explained;
		const finding = { verdict: "Refused", usedBy: [], ...reason } as const;
		return {
			...explained,
			verdict: finding.verdict,
			message: "",
			findings: worstFirst([finding, ...explained.findings.filter(({ verdict }) => verdict !== "Waits")]),
		};
	});
}

/** Returns why pods can never be evicted, by uid. Empty if a drain refuses a pod, because it then evicts nothing from the node. */
function neverGoing(
	pods: readonly JudgedForDrain[],
	{ name, agentNamespaces }: { readonly name: string; readonly agentNamespaces: readonly string[] },
) {
	if (pods.some(({ explained }) => explained.drain.kind === "refuses")) return new Map<string, never>();
	const going = pods.filter(
		({ explained, budgets }) => explained.drain.kind === "takes" && budgets && !isRefused(explained),
	);
	const plannedOf = new Map(going.map(({ pod, planned }) => [pod, planned]));
	const groups = drainOrder([...plannedOf.keys()], { kind: "none" }, agentNamespaces).map((group) =>
		group.flatMap((pod) => plannedOf.get(pod) ?? []),
	);
	const inWaves = simulateDrain([{ atOnce: 1, nodes: [{ name, groups }] }], budgetsOf(going), () => ({
		goneAfter: 1,
		backAfter: 0,
	}));
	return new Map(
		inWaves.pods.flatMap((each) => (each.kind === "never" ? [[each.pod.candidate.pod.uid, each.never] as const] : [])),
	);
}

/** Marks pods that have to follow others: each could be evicted alone, but they share budgets. */
function inLine(pods: readonly JudgedForDrain[]): readonly ExplainedPod[] {
	const counts = new SimulatedCounts(budgetsOf(pods));
	return pods.map(({ explained, planned, budgets = [], costs }) => {
		const stays = explained.verdict !== "MayGo" || explained.drain.kind === "leaves";
		if (stays || !costs || budgets.length === 0) return explained;
		const judgement = counts.judge(planned);
		if (judgement.kind === "may go") {
			counts.take(planned);
			return explained;
		}
		const key = judgement.kind === "waiting" ? judgement.key : undefined;
		const [budget] = budgets.filter((each) => key === undefined || each.key === key);
		const message = budget ? `as budget ${formatBudgetName(budget.counted.budget.name)} has room again` : "";
		return { ...explained, verdict: "Follows", message };
	});
}

function budgetsOf(pods: readonly JudgedForDrain[]): readonly PlanBudget[] {
	const all = pods.flatMap(({ budgets = [] }) => budgets.map((budget) => [budget.key, budget] as const));
	return [...new Map(all).values()];
}

function isRefused({ verdict }: ExplainedPod): boolean {
	return verdict === "Refused" || verdict === "Unknown";
}
