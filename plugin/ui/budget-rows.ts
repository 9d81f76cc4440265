// Makes the rows of a run's budgets. If not all fit, one line counts the others.
import type { BudgetFacts } from "./budget-book.ts";
import { distinctNames, nameColumn } from "./distinct-names.ts";
import type { FrameOptions } from "./frame-options.ts";
import type { SelectableRow } from "./lane-rows.ts";
import type { RunFacts } from "./run-facts.ts";
import { padded, piece, type StyledLine } from "./styled-line.ts";
import { needsAllText, silenceText, usersText } from "./user-text.ts";

type RowOptions = Pick<FrameOptions, "columns" | "now"> & { readonly selected: string | undefined };

export function budgetsHeader(facts: RunFacts, { columns }: RowOptions): StyledLine {
	const { name, left, healthy, need, cluster } = widthsFor(facts, columns);
	const members = membersOf(facts);
	const titles = distinctNames(members, cluster - 1);
	const clusters = cluster > 0 ? members.map((context) => padded(titles.get(context) ?? context, cluster)) : [];
	const text = [
		`  ${padded("BUDGET", name)}`,
		padded("LEFT", left),
		padded("HEALTHY", healthy),
		need > 0 ? padded("NEED", need) : "",
		...clusters,
		"USED UP BY",
	].join("");
	return [piece(text, "heading")];
}

/** At most `height` rows. Keeps the selected budget first, then those that are used up. */
export function budgetRows(facts: RunFacts, height: number, options: RowOptions): readonly SelectableRow[] {
	const { all } = facts.budgets;
	if (all.length === 0) return [{ key: "", line: [piece("  no budgets yet", "dim")] }];
	if (all.length <= height) return all.map((budget) => row(facts, budget, options));
	const isSelected = ({ key }: BudgetFacts): boolean => key === options.selected;
	const isFull = ({ left }: BudgetFacts): boolean => left === 0;
	const rank = (budget: BudgetFacts): number => (isSelected(budget) ? 0 : isFull(budget) ? 1 : 2);
	const first = all.toSorted((a, b) => rank(a) - rank(b)).slice(0, Math.max(0, height - 1));
	const shown = all.filter((budget) => first.includes(budget));
	const hidden = all.length - shown.length;
	const fullToo = all.filter((budget) => isFull(budget) && !shown.includes(budget)).length;
	const note = fullToo > 0 ? `, ${fullToo} of them used up` : "";
	return [
		...shown.map((budget) => row(facts, budget, options)),
		{ key: "", line: [piece(`  + ${hidden} more${note} (b)`, "dim")] },
	];
}

export function allBudgetRows(facts: RunFacts, options: RowOptions): readonly StyledLine[] {
	return [
		budgetsHeader(facts, options),
		...budgetRows(facts, Number.POSITIVE_INFINITY, options).map(({ line }) => line),
	];
}

export function leftText({ left, need, expected }: BudgetFacts): string {
	if (need === undefined && left === undefined) return "?";
	const limit = need !== undefined && expected !== undefined ? Math.max(0, expected - need) : undefined;
	return limit === undefined ? String(left ?? "?") : `${left ?? "?"} of ${limit}`;
}

function row(facts: RunFacts, counted: BudgetFacts, options: RowOptions): SelectableRow {
	const { columns, selected } = options;
	const { name, left, healthy, need, cluster } = widthsFor(facts, columns);
	const silent = facts.silentContexts;
	// Old counts must not look current: not while a member is silent, nor between an eviction and the next count.
	const unknown = [...silent, ...counted.uncountedIn];
	const { left: _left, healthy: _healthy, ...uncounted } = counted;
	const budget: BudgetFacts = unknown.length === 0 ? counted : uncounted;
	const isSelected = budget.key === selected;
	const isFull = budget.left === 0;
	const room = columns - 2 - name - left - healthy - need - cluster * membersOf(facts).length;
	const users =
		silent.length > 0
			? silenceText(silent)
			: (budget.unknown ?? (usersText(facts, budget, { now: options.now, room }) || needsAllText(budget)));
	const line = budget.line ? `${users === "" ? "" : `${users}; `}line: ${budget.line.holder} before us` : users;
	const tone = silent.length > 0 || budget.unknown !== undefined ? "bad" : isFull ? "warn" : undefined;
	const perCluster = (context: string): string => {
		if (silent.length > 0 || unknown.includes(context)) return padded("?", cluster);
		const here = budget.clusters.find((each) => each.context === context);
		const none = budget.clusters.length === 0 && budget.need !== undefined ? "?" : "-";
		return padded(here ? `${here.healthy}/${here.expected ?? "?"}` : none, cluster);
	};
	return {
		key: budget.key,
		line: [
			piece(isSelected ? "> " : "  ", isSelected ? "bold" : "plain"),
			piece(padded(namesOf(facts, columns).get(budget.name) ?? budget.name, name), isSelected ? "bold" : "plain"),
			piece(padded(leftText(budget), left), tone ?? "good"),
			piece(padded(`${budget.healthy ?? "?"}/${budget.expected ?? "?"}`, healthy)),
			...(need > 0 ? [piece(padded(budget.need === undefined ? "-" : `>= ${budget.need}`, need))] : []),
			...(cluster > 0 ? membersOf(facts).map((context) => piece(perCluster(context))) : []),
			piece(line === "" ? "-" : line, tone ?? "dim"),
		],
	};
}

/** Members without a drained node count the budget's pods too. */
function membersOf({ budgets, contexts }: RunFacts): readonly string[] {
	return budgets.members.length > 0 ? budgets.members : contexts;
}

function namesOf(facts: RunFacts, columns: number): ReadonlyMap<string, string> {
	return distinctNames(
		facts.budgets.all.map(({ name }) => name),
		widthsFor(facts, columns).name - 1,
	);
}

/** The last column is shortened first, and names last. */
function widthsFor(facts: RunFacts, columns: number) {
	const { length } = membersOf(facts);
	const least = columns < 80 ? 16 : 24;
	const numbers = columns < 100 ? { left: 9, healthy: 9, need: 0 } : { left: 10, healthy: 9, need: 8 };
	const most = columns - 2 - numbers.left - numbers.healthy - numbers.need - 14;
	const name = nameColumn(
		facts.budgets.all.map((budget) => budget.name),
		{ least, most },
	);
	const rest = columns - name - 29;
	const cluster = columns < 100 ? 0 : columns < 140 ? 9 : 12;
	// The pods that use up a budget matter more than the members' columns, which the pane shows too.
	return { ...numbers, name, cluster: cluster > 0 && length > 1 && length * cluster + 40 <= rest ? cluster : 0 };
}
