// Formats a plan: impossible pods, stranded pods, the pods in order, the budgets, and the total. The total is last, so that it stays
// visible after a long table.
import type { ImpossiblePod, Plan, PlanEntry, PlannedBudget, PlannedWait } from "../plan/plan.ts";
import { counted } from "../terminal/counted.ts";
import { fittedLines, wrappedLines } from "./table.ts";

export interface PlanLinesOptions {
	/** Whether there are several contexts, so that names need their context. */
	readonly several: boolean;
	readonly wide: boolean;
	/** Undefined for a pipe: nothing is cut. */
	readonly columns: number | undefined;
}

/** In fewer columns a table is unreadable, so each line has a few words. */
const narrow = 60;

export function planLines(plan: Plan, options: PlanLinesOptions): readonly string[] {
	const { columns } = options;
	const { impossible, pods, budgets } = plan;
	const blocks = [
		impossible.length > 0 ? impossibleLines(impossible, options) : [],
		strandedLines(pods, options),
		pods.length > 0 ? podLines(rowsOf(pods, options), columns) : [],
		budgets.length > 0 ? budgetLines(budgets, options) : [],
		sumLines(plan).flatMap((line) => wrappedLines(line, columns, "  ")),
	].filter((block) => block.length > 0);
	return blocks.flatMap((block, index) => (index === 0 ? block : ["", ...block]));
}

function impossibleLines(pods: readonly ImpossiblePod[], options: PlanLinesOptions): readonly string[] {
	const title = `${counted(pods.length, "pod")} can never go as things are:`;
	return [...wrappedLines(title, options.columns), ...reasonLines(pods, options)];
}

function strandedLines(pods: readonly PlanEntry[], options: PlanLinesOptions): readonly string[] {
	const stranded = pods.flatMap(({ replacement, ...pod }) => (replacement ? [{ ...pod, ...replacement }] : []));
	if (stranded.length === 0) return [];
	const title = `${counted(stranded.length, "pod")} would not come back, no node is left for ${stranded.length === 1 ? "it" : "them"}:`;
	return [...wrappedLines(title, options.columns), ...reasonLines(stranded, options)];
}

interface ReasonedPod extends NamedPod {
	readonly context: string;
	readonly node: string;
	readonly message: string;
}

/** Pods of one node with the same reason share a line, which names the first few, or all with -o wide. */
function reasonLines(pods: readonly ReasonedPod[], options: PlanLinesOptions): readonly string[] {
	const shown = options.wide ? pods.length : 4;
	const groups = Map.groupBy(pods, (pod) => JSON.stringify([nodeText(pod, options), pod.message]));
	const lines = [...groups.values()].map((group) => {
		const owners = [...Map.groupBy(group, ({ namespace, owner }) => `${namespace}/${owner}`).values()];
		const names = owners.slice(0, shown).map(nameOf);
		const more = owners.length > shown ? ` and ${owners.length - shown} more` : "";
		const [first] = group;
		return first ? `  ${names.join(", ")}${more} on ${nodeText(first, options)}: ${first.message}` : "";
	});
	return lines.flatMap((line) => wrappedLines(line, options.columns));
}

interface PodRow {
	readonly wave: string;
	readonly pods: string;
	readonly node: string;
	readonly waits: string;
}

/** Groups pods with the same namespace, owner, node, wave and waits. With -o wide, each pod has its own line. */
function rowsOf(pods: readonly PlanEntry[], options: PlanLinesOptions): readonly PodRow[] {
	const rows = pods.map((pod) => ({
		pod,
		node: nodeText(pod, options),
		waits: pod.waits.map((wait) => waitText(wait, options)).join("; "),
	}));
	const groups = Map.groupBy(rows, ({ pod, node, waits }) =>
		JSON.stringify([pod.wave, node, pod.namespace, options.wide ? pod.uid : pod.owner, waits]),
	);
	return [...groups.values()].flatMap((group) => {
		const [first] = group;
		if (!first) return [];
		const { pod, node, waits } = first;
		return [{ wave: String(pod.wave), pods: nameOf(group.map((row) => row.pod)), node, waits }];
	});
}

function podLines(rows: readonly PodRow[], columns: number | undefined): readonly string[] {
	if (columns === undefined || columns >= narrow) {
		const cells = rows.map(({ wave, pods, node, waits }) => [wave, pods, node, waits === "" ? "-" : waits]);
		return fittedLines(["WAVE", "POD", "NODE", "WAITS FOR"], cells, columns);
	}
	const lines = rows.flatMap(({ wave, pods, node, waits }) => [
		`wave ${wave}: ${pods} on ${node}`,
		...(waits === "" ? [] : [`  waits for ${waits}`]),
	]);
	return lines.flatMap((line) => wrappedLines(line, columns));
}

/** Names up to two pods, or more with -o wide, and otherwise gives their number. */
function waitText(
	{ reason, message, own, budget, node, pods = [], podCount = 0 }: PlannedWait,
	options: PlanLinesOptions,
): string {
	if (!own) return `others: ${message}`;
	if (reason === "NodeBefore") return `node ${node}`;
	const names = pods.map(({ context, pod }) => (options.several ? `${pod} in ${context}` : pod));
	const shown = podCount <= 2 || (options.wide && podCount <= names.length) ? names.join(", ") : `${podCount} pods`;
	return reason === "BudgetExhausted" ? `${budget}: ${shown}` : `${shown} of its node`;
}

function budgetLines(budgets: readonly PlannedBudget[], options: PlanLinesOptions): readonly string[] {
	const { columns } = options;
	const cells = budgets.map((budget) => budgetCells(budget, options));
	if (columns === undefined || columns >= narrow) {
		return fittedLines(["BUDGET", "ALLOWED", "HEALTHY", "NEED", "EXPECTED", "PODS"], cells, columns);
	}
	return cells
		.map(([name, allowed, healthy, need]) => `${name}: ${allowed} allowed, ${healthy} healthy, needs ${need}`)
		.flatMap((line) => wrappedLines(line, columns));
}

function budgetCells(budget: PlannedBudget, { several }: PlanLinesOptions): readonly string[] {
	const cell = (value: number | null): string => (value === null ? "?" : String(value));
	const { kind, context = "", namespace, name, suspended, allowed, healthy, need, expected, pods } = budget;
	const place = kind === "PodDisruptionBudget" ? ` (PDB${several ? ` in ${context}` : ""})` : "";
	return [
		`${namespace}/${name}${place}`,
		suspended ? "off" : cell(allowed),
		cell(healthy),
		suspended ? "-" : cell(need),
		suspended ? "-" : cell(expected),
		String(pods),
	];
}

function sumLines({ nodes, pods, waves, seconds, impossible, possible }: Plan): readonly string[] {
	const left = nodes.reduce((total, node) => total + node.left, 0);
	const stranded = pods.filter(({ replacement }) => replacement).length;
	const refused = nodes.filter((node) => node.refused).map(({ node }) => node);
	const sum =
		pods.length > 0
			? `${counted(nodes.length, "node")}, ${counted(pods.length, "pod")}, ${counted(waves, "wave")}, ${rangeText(seconds)}.`
			: `${counted(nodes.length, "node")}, no pods to evict.`;
	return [
		sum,
		...(left > 0 ? [`Skipped: ${counted(left, "pod")} (DaemonSet, static or terminating).`] : []),
		...(stranded > 0 ? [`${counted(stranded, "pod")} would not come back (see the top).`] : []),
		...(refused.length > 0
			? [`Nothing on ${refused.join(", ")} would be evicted while those pods are not allowed to go.`]
			: []),
		possible
			? "Nothing was changed, no lease was taken."
			: `Not possible: ${counted(impossible.length, "pod")} can never go (see the top), the rest is planned without them. Nothing was changed.`,
	];
}

function rangeText({ atLeast, atMost, measuredPods, assumedPods }: Plan["seconds"]): string {
	const least = secondsText(atLeast);
	const starts =
		assumedPods === 0
			? "start-up as seen"
			: measuredPods === 0
				? "start-up assumed"
				: `start-up assumed for ${counted(assumedPods, "pod")}`;
	const basis = `by grace periods, ${starts}`;
	if (atMost === null) {
		const known = atLeast === 0 ? "duration unknown" : `at least ${least} (${basis}), then unknown`;
		return `${known}: waits for pods outside this drain`;
	}
	return `${atLeast === 0 ? "up" : least} to ${secondsText(atMost)} (${basis})`;
}

/** The range is already rounded to values with a short form. */
function secondsText(seconds: number): string {
	if (seconds < 60 || (seconds < 3_600 && seconds % 60 !== 0)) return `${seconds}s`;
	return seconds < 3_600 ? `${seconds / 60}min` : `${Number((seconds / 3_600).toFixed(1))}h`;
}

function nodeText(
	{ context, node }: { readonly context: string; readonly node: string },
	{ several }: PlanLinesOptions,
): string {
	return several ? `${context}/${node}` : node;
}

interface NamedPod {
	readonly namespace: string;
	readonly pod: string;
	readonly owner: string;
}

/** Several pods are named by their owner. */
function nameOf(pods: readonly NamedPod[]): string {
	const [first] = pods;
	if (!first) return "";
	return `${first.namespace}/${pods.length === 1 ? first.pod : `${first.owner} (${pods.length} pods)`}`;
}
