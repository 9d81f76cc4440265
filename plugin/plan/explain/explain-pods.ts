// Judges several pods, each on its own.
import type { V1Pod } from "@kubernetes/client-node";
import { formatBudgetName } from "../../../disruption/budget/budget.ts";
import { controllerOf } from "../../../disruption/budget/pod.ts";
import { podStatus } from "../../../disruption/budget/pod-status.ts";
import type { RoundRuntime } from "../../../disruption/round/round-runtime.ts";
import type { FilteredPods, FilterOptions } from "../../drain/pod-filters.ts";
import { filterIn } from "../../drain/pods-to-take.ts";
import type { BudgetRow } from "../../fleet/budget-table.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { hasNotStarted, isFinished, readyCondition } from "../../kubernetes/pod-status.ts";
import { podReference } from "../fleet-budgets.ts";
import { nativeState } from "../judge-pod.ts";
import { type NativeBudgets, nativeCoverage, readNativeBudgets } from "../native-budgets.ts";
import { type CountedBudget, countBudget } from "./count-budget.ts";
import { type CoveredPod, coverPods, type PodToExplain } from "./cover-pods.ts";
import { type DrainFilter, type Finding, worstFirst } from "./explanation.ts";
import type { FleetView } from "./fleet-view.ts";
import type { JudgedForDrain } from "./judge-drain.ts";
import { judgeUnderBudgets, judgeUnderNative, planPodOf } from "./judge-pod.ts";
import { type HeldLease, readHeldLeases } from "./read-held-leases.ts";
import { withReplacements } from "./read-replacements.ts";
import { readTermination } from "./read-termination.ts";

export interface ExplainOptions extends FilterOptions {
	readonly runtime: Pick<RoundRuntime, "now" | "sleep">;
	/** In ms since the epoch. */
	readonly now: number;
}

export interface ExplainedPods {
	/** Without pods that are gone. */
	readonly pods: readonly JudgedForDrain[];
	readonly budgets: readonly BudgetRow[];
	readonly leases: readonly HeldLease[];
}

/** The pods are of `context`. `contexts` are needed for pods of other clusters that use up the same budgets. */
export async function explainPods(
	{ context, contexts }: { readonly context: KubeContext; readonly contexts: readonly KubeContext[] },
	pods: readonly PodToExplain[],
	view: FleetView,
	options: ExplainOptions,
): Promise<ExplainedPods> {
	const clusterId = view.fleet?.memberOf(context.name)?.id ?? `context ${context.name}`;
	const v1Pods = pods.map(({ pod }) => pod);
	const [filtered, native] = await Promise.all([
		filterIn(context, v1Pods, options, options.now),
		readNativeBudgets(context, clusterId, [...new Set(v1Pods.map(({ metadata }) => metadata?.namespace ?? ""))]),
	]);
	// Not in parallel with the requests above, because the coverage could be stale when they end.
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
	const rows = [...counted.values()].map(({ row }) => withReplacements(row, view.fleet, contexts));
	return { pods: explained, budgets: await Promise.all(rows), leases };
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
): JudgedForDrain {
	const { context, pod, job, keeps } = covered;
	const names = covered.budgets.map(({ name }) => formatBudgetName(name));
	const ours = names.map((name) => counted.get(name)?.counted);
	const missing = ours.flatMap((each) => (each && "verdict" in each ? [each] : []));
	const budgets = ours.flatMap((each) => (each && !("verdict" in each) ? [each] : []));
	const isWhole = budgets.length === names.length;
	const judged = { job, pod, clusterId, budgets };
	const termination = readTermination(pod, now);
	// A run also evicts a pod that has not started, whatever its budgets say (evictFree).
	const isFree = hasNotStarted(pod);
	const underBudgets = (): readonly (Finding | undefined)[] => [
		keeps ?? (isWhole ? judgeUnderBudgets(judged) : missing[0]),
		!keeps && !isWhole && missing.length === 0 ? uncounted : undefined,
		judgeUnderNative(judged, native),
	];
	const findings = [
		...(isFree ? [] : underBudgets()),
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
	const states = new Map(
		isFree ? [] : [...planned.states, ...nativeBudget.map(({ key }) => [key, nativeState(pod)] as const)],
	);
	return {
		pod,
		planned: { ...planned, states },
		budgets: isWhole && !keeps ? [...budgets, ...nativeBudget] : undefined,
		costs: !isEnding && !isFree && !isFinished(pod),
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
			message: termination?.text ?? costlessText(pod),
			findings: kept,
			budgets: names,
			drain: filter,
		},
	};
}

function costlessText(pod: V1Pod): string {
	if (isFinished(pod)) return "it has ended: its eviction costs nothing";
	return hasNotStarted(pod) ? "it has not started: its eviction costs nothing" : "";
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
	message: "a budget that covers it has not been counted",
	usedBy: [],
};

function staticPod({ message }: DrainFilter): Finding {
	return { verdict: "Refused", reason: "PodsNotAllowed", message: `it is a static pod: ${message}`, usedBy: [] };
}
