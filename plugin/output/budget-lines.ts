// Formats `kubectl xpdb budgets`: a row for each budget and, on request, one for each pod that uses it up.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import { shortenTo } from "../../disruption/quote.ts";
import { suspensionNow } from "../events/suspension-text.ts";
import { formatElapsed } from "../flags/duration.ts";
import { boundText, differences, suspensionOf } from "../fleet/budget-members.ts";
import type { BudgetRow, PodOfBudget } from "../fleet/budget-table.ts";
import { readHolder } from "../fleet/holder-identity.ts";
import { type MissingPods, missingCount, missingPods, missingText } from "../fleet/missing-pods.ts";
import { fittedLines, tableLines } from "./table.ts";

export interface BudgetLinesOptions {
	/** Adds a column for each cluster, and the bound. */
	readonly isWide: boolean;
	/** Lists all pods that use up a budget, not only the first. */
	readonly listsPods: boolean;
	readonly headers: boolean;
	readonly clusters: readonly string[];
	/** The terminal's width. Undefined: unlimited. */
	readonly columns: number | undefined;
	/** In ms since the epoch. */
	readonly now: number;
}

const counts = ["NAMESPACE", "NAME", "ALLOWED", "HEALTHY", "NEED", "EXPECTED"];

export function budgetLines(rows: readonly BudgetRow[], options: BudgetLinesOptions): readonly string[] {
	const { isWide, listsPods, headers, columns, now } = options;
	if (!listsPods) {
		const cells = rows.map((row) => budgetCells(row, { ...options, isWide: false }));
		return tableLines(headers ? budgetHeaders({ ...options, isWide: false }) : undefined, cells).map((line) =>
			fitLast(line, columns),
		);
	}
	const wide = { isWide: true, clusters: isWide ? options.clusters : [], now };
	const cells = rows.map((row) => budgetCells(row, wide));
	const users = rows.flatMap((row) => [
		...row.usedBy.map((pod) => userCells(row, pod, now)),
		...missingPods(row).map((missing) => missingCells(row, missing)),
	]);
	return [
		...fittedLines(headers ? budgetHeaders(wide) : undefined, cells, columns),
		...(users.length > 0 ? ["", ...fittedLines(headers ? userHeaders : undefined, users, columns)] : []),
	];
}

/** With `isWide`: the clusters and the bound. Otherwise: the first pod that uses up the budget. */
export function budgetCells(
	row: BudgetRow,
	{ isWide, clusters, now }: Pick<BudgetLinesOptions, "isWide" | "clusters" | "now">,
): readonly string[] {
	return isWide
		? [...countCells(row), ...clusters.map((name) => clusterCell(row, name)), boundText(row.members)]
		: [...countCells(row), usedByCell(row, now)];
}

export function budgetHeaders({
	isWide,
	clusters,
}: Pick<BudgetLinesOptions, "isWide" | "clusters">): readonly string[] {
	return isWide ? [...counts, ...clusters, "BOUND"] : [...counts, "USED BY"];
}

/** Returns what a table has no room for but users must not miss. */
export function budgetNotes(row: BudgetRow, clusters: readonly string[], now: number): readonly string[] {
	const name = `${row.namespace}/${row.name}`;
	const { problem, members } = row;
	const suspension = suspensionOf(members);
	const who = suspension ? ` ${suspensionNow(suspension, now)}` : "";
	// While every eviction is refused anyway, differences between members do not matter.
	const differ = problem === undefined ? differences(members, clusters) : undefined;
	return [
		...(problem === undefined ? [] : [`${name} refuses every eviction: ${problem}`]),
		...(row.suspended
			? [`${name} is suspended and blocks no eviction:${who || " no record of who suspended it"}`]
			: []),
		...(differ === undefined ? [] : [`${name} differs: ${differ}`]),
	];
}

/** "?": unknown, so nothing is allowed. "off": suspended. "-": a suspended budget needs none. */
function countCells(row: BudgetRow): readonly string[] {
	return [
		row.namespace,
		row.name,
		row.suspended ? "off" : cell(row.allowed),
		cell(row.healthy),
		row.suspended ? "-" : cell(row.need),
		row.suspended ? "-" : cell(row.expected),
	];
}

function clusterCell(row: BudgetRow, name: string): string {
	const counts = row.perCluster.get(name);
	return counts?.healthy === undefined ? "?" : `${counts.healthy}/${cell(counts.expected)}`;
}

function cell(value: number | undefined): string {
	return value === undefined ? "?" : String(value);
}

/** For example "c2/db-1 Pending 9m, 2 more". */
function usedByCell(row: BudgetRow, now: number): string {
	const { usedBy, suspended, members } = row;
	if (suspended) {
		const suspension = suspensionOf(members);
		if (!suspension) return "suspended";
		return `suspended by ${suspension.by} ${formatElapsed(now - Date.parse(suspension.since))}`;
	}
	const [first] = usedBy;
	const missing = missingPods(row);
	if (!first) return missing.map((each) => `${each.cluster}: ${missingText(each)}`).join(", ");
	const age = ageOf(first, now);
	const others = usedBy.length - 1 + missingCount(missing);
	const more = others > 0 ? `, ${others} more` : "";
	return `${first.cluster}/${first.name} ${stateOf(first)}${age === undefined ? "" : ` ${age}`}${more}`;
}

const userHeaders = ["BUDGET", "CLUSTER", "POD", "STATE", "AGE", "OPERATION", "BY", "ACCOUNT", "MESSAGE"];

function userCells(row: BudgetRow, pod: PodOfBudget, now: number): readonly string[] {
	const { person = "-", operation = "-" } = pod.holder === undefined ? {} : readHolder(pod.holder);
	return [
		formatBudgetName(row),
		pod.cluster,
		pod.name,
		stateOf(pod),
		ageOf(pod, now) ?? "-",
		operation,
		person,
		pod.account === undefined ? "-" : accountText(pod.account),
		pod.message ?? "",
	];
}

function missingCells(row: BudgetRow, { cluster, pods, mislabelled = false }: MissingPods): readonly string[] {
	const state = mislabelled ? `${pods} mislabelled` : `${pods} missing`;
	return [formatBudgetName(row), cluster, "-", state, "-", "-", "-", "-", ""];
}

/** Shows a ServiceAccount as NAMESPACE/NAME. Other accounts are unchanged. */
export function accountText(account: string): string {
	return account.replace(/^system:serviceaccount:([^:]+):([^:]+)$/, "$1/$2");
}

/** Old agents report only `why`. */
function stateOf({ state, why }: PodOfBudget): string {
	return state ?? why;
}

function ageOf({ sinceSeconds }: PodOfBudget, now: number): string | undefined {
	return sinceSeconds === undefined ? undefined : formatElapsed(now - sinceSeconds * 1_000);
}

/** Cuts only the last column, unless the terminal is very narrow, because people copy the others. */
export function fitLast(line: string, columns: number | undefined): string {
	return columns === undefined || line.length <= columns ? line : shortenTo(line, Math.max(columns - 1, 1));
}
