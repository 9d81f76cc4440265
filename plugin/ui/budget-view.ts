// Defines what the user has selected on the budgets screen, and how keys change it.
import { controlAction, type KeyPress, stepOf } from "./steering-keys.ts";
import type { WatchAction } from "./watch-action.ts";

export const sortColumns = ["ALLOWED", "BUDGET", "HEALTHY", "EXPECTED"] as const;
export type SortColumn = (typeof sortColumns)[number];

export type BudgetPane = "details" | "explain" | "culprit" | "object" | "help";

export interface BudgetView {
	readonly sort: SortColumn;
	readonly isReversed: boolean;
	/** Names must contain this text. After "!", they must not contain it. */
	readonly filter: string;
	readonly isTyping: boolean;
	/** Undefined: all namespaces. */
	readonly namespace: string | undefined;
	readonly selected: string | undefined;
	/** The row's index when it was selected. If the row is gone, the next move starts here. */
	readonly index: number;
	readonly pane: BudgetPane | undefined;
	/** How many lines of the pane are scrolled off the top. */
	readonly scroll: number;
	/** The index of the selected pod in the details. */
	readonly culprit: number | undefined;
}

export const firstBudgetView: BudgetView = {
	sort: "ALLOWED",
	isReversed: false,
	filter: "",
	isTyping: false,
	namespace: undefined,
	selected: undefined,
	index: 0,
	pane: undefined,
	scroll: 0,
	culprit: undefined,
};

export type BudgetAction = "object" | "explain" | WatchAction;

interface Around {
	readonly rows: readonly string[];
	readonly namespaces: readonly string[];
	readonly page: number;
	readonly culprits?: number;
}

interface PressedBudgetKey {
	readonly view: BudgetView;
	readonly action?: BudgetAction;
}

const longestFilter = 60;
/** How many lines a page key scrolls a pane. */
const paneLines = 4;

export function pressBudgetKey(view: BudgetView, key: KeyPress, around: Around): PressedBudgetKey {
	if (key.ctrl) {
		const action = controlAction(key);
		return action ? { view, action } : { view };
	}
	if (view.isTyping) return { view: typed(view, key) };
	// In the details, arrow keys select rows and page keys scroll. In other panes, both scroll.
	const step = stepOf(key, view.pane ? paneLines : around.page);
	if (step !== undefined) {
		const scrolls = (view.pane && view.pane !== "details") || (view.pane && Math.abs(step) > 1);
		return {
			view: scrolls ? { ...view, scroll: Math.max(0, view.scroll + step) } : moved(view, step, around.rows),
		};
	}
	switch (key.name || key.input) {
		case "enter":
			return { view: toggled(withRow(view, around.rows), "details") };
		case "tab": {
			const { culprits = 0 } = around;
			if (culprits === 0 || (view.pane !== "details" && view.pane !== "culprit")) return { view };
			return { view: { ...view, culprit: ((view.culprit ?? -1) + 1) % culprits } };
		}
		case "y": {
			if (view.pane === "object") return { view: { ...view, pane: undefined, scroll: 0 } };
			const { culprit } = view;
			const next = toggled(withRow(view, around.rows), "object");
			if (next.selected === undefined) return { view };
			return { view: hasCulprit(view) ? { ...next, culprit } : next, action: "object" };
		}
		case "e": {
			if (view.pane === "culprit") return { view: { ...view, pane: "details", scroll: 0 } };
			if (hasCulprit(view)) return { view: { ...view, pane: "culprit", scroll: 0 } };
			const next = toggled(withRow(view, around.rows), "explain");
			if (next.selected === undefined) return { view };
			return next.pane === "explain" ? { view: next, action: "explain" } : { view: next };
		}
		case "?":
		case "h":
			return { view: toggled(view, "help") };
		case "s": {
			const next = sortColumns[(sortColumns.indexOf(view.sort) + 1) % sortColumns.length];
			return { view: { ...view, sort: next ?? view.sort } };
		}
		case "r":
			return { view: { ...view, isReversed: !view.isReversed } };
		case "/":
			return { view: { ...view, isTyping: true } };
		case "n":
			return { view: { ...view, namespace: nextNamespace(view, around.namespaces) } };
		case "escape":
			if (view.pane === "culprit" || (view.pane === "object" && view.culprit !== undefined)) {
				return { view: { ...view, pane: "details", scroll: 0 } };
			}
			if (view.pane) return { view: { ...view, pane: undefined, scroll: 0, culprit: undefined } };
			return { view: { ...view, filter: "", namespace: undefined } };
		case "q":
			return { view, action: "leave" };
		default:
			return { view };
	}
}

export function isShown({ filter, namespace }: BudgetView, key: string): boolean {
	if (namespace !== undefined && !key.startsWith(`${namespace}/`)) return false;
	return filter.startsWith("!") ? filter === "!" || !key.includes(filter.slice(1)) : key.includes(filter);
}

function typed(view: BudgetView, { name, input }: KeyPress): BudgetView {
	if (name === "enter") return { ...view, isTyping: false };
	if (name === "escape") return { ...view, isTyping: false, filter: "" };
	if (name === "backspace") return { ...view, filter: view.filter.slice(0, -1) };
	// Names contain no other characters, but pasted text may.
	return { ...view, filter: (view.filter + input.replaceAll(/[^-!./a-z0-9]/g, "")).slice(0, longestFilter) };
}

function moved(view: BudgetView, by: number, rows: readonly string[]): BudgetView {
	if (rows.length === 0) return view;
	const at = view.selected === undefined ? -1 : rows.indexOf(view.selected);
	const from = at >= 0 ? at : view.selected === undefined ? (by > 0 ? -1 : rows.length) : view.index;
	const index = Math.min(rows.length - 1, Math.max(0, from + by));
	return { ...view, selected: rows[index], index, scroll: 0, culprit: undefined };
}

function withRow(view: BudgetView, rows: readonly string[]): BudgetView {
	return view.selected === undefined ? moved(view, 1, rows) : view;
}

function toggled(view: BudgetView, pane: BudgetPane): BudgetView {
	return { ...view, pane: view.pane === pane ? undefined : pane, scroll: 0, culprit: undefined };
}

function hasCulprit({ pane, culprit }: BudgetView): boolean {
	return culprit !== undefined && (pane === "details" || pane === "culprit");
}

/** Undefined after the last one: all namespaces. */
function nextNamespace({ namespace }: BudgetView, namespaces: readonly string[]): string | undefined {
	return namespaces[namespace === undefined ? 0 : namespaces.indexOf(namespace) + 1];
}
