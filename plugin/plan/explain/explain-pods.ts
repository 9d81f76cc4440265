// Pods judged together: each for itself as it is now, and then in line, as a drain of their node would take them.
import { formatBudgetName } from "../../../disruption/budget.ts";
import { controllerOf } from "../../../disruption/pod.ts";
import { podStatus } from "../../../disruption/pod-status.ts";
import type { RoundRuntime } from "../../../disruption/round-runtime.ts";
import type { FilteredPods, FilterOptions } from "../../drain/pod-filters.ts";
import { filterIn } from "../../drain/pods-to-take.ts";
import type { BudgetRow } from "../../fleet/budget-table.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { isFinished, readyCondition } from "../../kubernetes/pod-status.ts";
import type { PlanBudget, PlanPod } from "../drain-plan.ts";
import { podReference } from "../fleet-budgets.ts";
import { nativeState } from "../judge-pod.ts";
import { type NativeBudgets, nativeCoverage, readNativeBudgets } from "../native-budgets.ts";
import { SimulatedCounts } from "../simulated-counts.ts";
import { type CountedBudget, countBudget } from "./count-budget.ts";
import { type CoveredPod, coverPods, type PodToExplain } from "./cover-pods.ts";
import { type DrainFilter, type ExplainedPod, type Finding, worstFirst } from "./explanation.ts";
import type { FleetView } from "./fleet-view.ts";
import { judgeUnderBudgets, judgeUnderNative, planPodOf } from "./judge-pod.ts";
import { type HeldLease, readHeldLeases } from "./read-held-leases.ts";
import { readTermination } from "./read-termination.ts";

export interface ExplainOptions extends FilterOptions {
	readonly runtime: Pick<RoundRuntime, "now" | "sleep">;
	/** Milliseconds since the epoch. */
	readonly now: number;
}

export interface ExplainedPods {
	/** In the order of the question; one that is gone by now is left out. */
	readonly pods: readonly ExplainedPod[];
	readonly budgets: readonly BudgetRow[];
	readonly leases: readonly HeldLease[];
}

/** Pods of one cluster. */
export async function explainPods(
	context: KubeContext,
	pods: readonly PodToExplain[],
	view: FleetView,
	options: ExplainOptions,
): Promise<ExplainedPods> {
	const clusterId = view.fleet?.memberOf(context.name)?.id ?? `context ${context.name}`;
	const v1Pods = pods.map(({ pod }) => pod);
	const [filtered, native] = await Promise.all([
		filterIn(context, v1Pods, options, options.now),
		readNativeBudgets(context, clusterId),
	]);
	// Last, so that no other answer makes these old.
	const covered = await coverPods(pods, view, options.runtime);
	const names = covered.flatMap(({ budgets }) => budgets.map(({ name }) => name));
	const [counted, leases] = await Promise.all([
		countAll(covered, clusterId, view, options.runtime),
		readHeldLeases(view.fleet, [...new Map(names.map((name) => [formatBudgetName(name), name])).values()]),
	]);
	const explained = covered
		.filter(({ isGone }) => !isGone)
		.map((each) =>
			explainPod(each, { clusterId, counted, native, filter: filterOf(each, filtered), now: options.now }),
		);
	return {
		pods: inLine(explained),
		budgets: [...counted.values()].map(({ row }) => row),
		leases,
	};
}

async function countAll(
	covered: readonly CoveredPod[],
	clusterId: string,
	{ fleet }: FleetView,
	{ now }: ExplainOptions["runtime"],
): Promise<ReadonlyMap<string, CountedBudget>> {
	if (!fleet) return new Map();
	const byKey = Map.groupBy(
		covered.flatMap(({ budgets, pod }) => budgets.map((budget) => ({ budget, pod }))),
		({ budget }) => formatBudgetName(budget.name),
	);
	const entries = [...byKey].map(async ([key, each]): Promise<readonly [string, CountedBudget][]> => {
		const [first] = each;
		if (!first) return [];
		const candidates = each.map(({ pod }) => ({ clusterId, pod: podReference(pod) }));
		return [[key, await countBudget(fleet, first.budget, candidates, now)]];
	});
	return new Map((await Promise.all(entries)).flat());
}

interface Judged {
	readonly explained: ExplainedPod;
	/** For those that may go: as they go one after the other. */
	readonly planned: PlanPod;
	readonly budgets: readonly PlanBudget[];
}

function explainPod(
	covered: CoveredPod,
	{
		clusterId,
		counted,
		native,
		filter,
		now,
	}: {
		readonly clusterId: string;
		readonly counted: ReadonlyMap<string, CountedBudget>;
		readonly native: NativeBudgets;
		readonly filter: DrainFilter;
		readonly now: number;
	},
): Judged {
	const { context, pod, job, keeps } = covered;
	const names = covered.budgets.map(({ name }) => formatBudgetName(name));
	const ours = names.map((name) => counted.get(name)?.counted);
	const missing = ours.flatMap((each) => (each && "verdict" in each ? [each] : []));
	const budgets = ours.flatMap((each) => (each && !("verdict" in each) ? [each] : []));
	const isWhole = budgets.length === names.length;
	const judged = { job, pod, clusterId, budgets };
	const termination = readTermination(pod, now);
	const findings = [
		keeps ?? (isWhole ? judgeUnderBudgets(judged) : missing[0]),
		!keeps && !isWhole && missing.length === 0 ? uncounted : undefined,
		judgeUnderNative(judged, native),
		filter.kind === "leaves" && controllerOf(pod)?.kind !== "DaemonSet" ? staticPod(filter) : undefined,
	].filter((each) => each !== undefined);
	const { metadata, spec } = pod;
	const { state = "Running" } = readyCondition(pod) ? {} : podStatus(pod);
	const controller = controllerOf(pod);
	const isEnding = termination !== undefined;
	const kept = isEnding ? [] : worstFirst(findings);
	const of = nativeCoverage(pod, native.budgets);
	const nativeBudget = of.kind === "covered" ? [of.budget.budget] : [];
	const planned = planPodOf(judged);
	const states = new Map([...planned.states, ...nativeBudget.map(({ key }) => [key, nativeState(pod)] as const)]);
	return {
		planned: { ...planned, states },
		budgets: isWhole && !isEnding && !isFinished(pod) ? [...budgets, ...nativeBudget] : [],
		explained: {
			context: context.name,
			namespace: metadata?.namespace ?? "",
			pod: metadata?.name ?? "",
			uid: metadata?.uid ?? "",
			node: spec?.nodeName ?? "",
			owner: controller ? `${controller.kind}/${controller.name}` : "",
			state,
			verdict: kept[0]?.verdict ?? "MayGo",
			isOverdue: termination?.isOverdue === true,
			message: termination?.text ?? (isFinished(pod) ? "it has ended: its eviction costs nothing" : ""),
			findings: kept,
			budgets: names,
			drain: filter,
		},
	};
}

function filterOf({ pod }: CoveredPod, { take, refused }: FilteredPods): DrainFilter {
	const refusal = refused.find((each) => each.pod === pod);
	if (refusal) return { kind: "refuses", message: refusal.message };
	if (take.includes(pod)) return { kind: "takes", message: "" };
	const message =
		controllerOf(pod)?.kind === "DaemonSet"
			? "its DaemonSet would put it back at once"
			: "its kubelet runs it from a file, whatever an API server is told";
	return { kind: "leaves", message };
}

const uncounted: Finding = {
	verdict: "Unknown",
	reason: "PeerUnreachable",
	message: "nobody has counted a budget that covers it",
	usedBy: [],
};

function staticPod({ message }: DrainFilter): Finding {
	return { verdict: "Refused", reason: "PodsNotAllowed", message: `it is a static pod: ${message}`, usedBy: [] };
}

/** Those that may go one by one take from the same budgets: some go when the ones before them are back. */
function inLine(pods: readonly Judged[]): readonly ExplainedPod[] {
	const budgets = new Map(pods.flatMap((each) => each.budgets.map((budget) => [budget.key, budget] as const)));
	const counts = new SimulatedCounts([...budgets.values()]);
	return pods.map(({ explained, planned, budgets: own }) => {
		if (explained.verdict !== "MayGo" || own.length === 0 || explained.drain.kind === "leaves") return explained;
		const judgement = counts.judge(planned);
		if (judgement.kind === "may go") {
			counts.take(planned);
			return explained;
		}
		const key = judgement.kind === "waiting" ? judgement.key : undefined;
		const [budget] = own.filter((each) => key === undefined || each.key === key);
		const message = budget ? `as budget ${formatBudgetName(budget.counted.budget.name)} has room again` : "";
		return { ...explained, verdict: "Follows", message };
	});
}
