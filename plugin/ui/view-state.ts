// Defines what the user has selected on the screen of a run, and how keys change it.
import { controlAction, type KeyPress, stepOf } from "./steering-keys.ts";

export type Pane = "details" | "explain" | "culprit" | "object" | "budgets" | "warnings" | "help";

export interface ViewState {
	readonly selected: string | undefined;
	/** The row's index when it was selected. If the row is gone, the next move starts here. */
	readonly index: number;
	readonly pane: Pane | undefined;
	/** How many lines of the pane are scrolled off the top. */
	readonly scroll: number;
	/** The index of the selected pod in the pane. */
	readonly culprit: number | undefined;
}

export type Action = "object" | "pause" | "leave" | "interrupt" | "suspend" | "redraw";

export const firstView: ViewState = { selected: undefined, index: 0, pane: undefined, scroll: 0, culprit: undefined };

export interface PressedKey {
	readonly view: ViewState;
	readonly action?: Action;
}

/** `page`: lines per page. `culprits`: how many pods the pane lists. */
export function pressKey(
	view: ViewState,
	key: KeyPress,
	rows: readonly string[],
	page: number,
	culprits = 0,
): PressedKey {
	if (key.ctrl) {
		const action = controlAction(key);
		return action ? { view, action } : { view };
	}
	const step = stepOf(key, page);
	if (step !== undefined) return { view: view.pane ? scrolled(view, step) : moved(view, step, rows) };
	switch (key.name || key.input) {
		case "enter":
			return { view: toggled(withSelection(view, rows), "details") };
		case "tab":
			return { view: nextCulprit(view, culprits) };
		case "e":
			if (view.pane === "culprit") return { view: { ...view, pane: "explain", scroll: 0 } };
			if (hasCulprit(view)) return { view: { ...view, pane: "culprit", scroll: 0 } };
			return { view: toggled(withSelection(view, rows), "explain") };
		case "y": {
			if (view.pane === "object") return { view: { ...view, pane: undefined, scroll: 0 } };
			const { culprit } = view;
			const next = toggled(withSelection(view, rows), "object");
			return { view: hasCulprit(view) ? { ...next, culprit } : next, action: "object" };
		}
		case "b":
			return { view: toggled(view, "budgets") };
		case "w":
			return { view: toggled(view, "warnings") };
		case "?":
		case "h":
			return { view: toggled(view, "help") };
		case "escape":
			if (view.pane === "culprit" || (view.pane === "object" && view.culprit !== undefined)) {
				return { view: { ...view, pane: "explain", scroll: 0 } };
			}
			return { view: { ...view, pane: undefined, scroll: 0, culprit: undefined } };
		case "p":
			return { view, action: "pause" };
		case "q":
			return { view, action: "leave" };
		default:
			return { view };
	}
}

export function selectedRow({ selected }: ViewState, rows: readonly string[]): number {
	return selected === undefined ? -1 : rows.indexOf(selected);
}

function moved(view: ViewState, by: number, rows: readonly string[]): ViewState {
	if (rows.length === 0) return view;
	const at = selectedRow(view, rows);
	const from = at >= 0 ? at : view.selected === undefined ? (by > 0 ? -1 : rows.length) : view.index;
	const index = Math.min(rows.length - 1, Math.max(0, from + by));
	return { ...view, selected: rows[index], index };
}

function withSelection(view: ViewState, rows: readonly string[]): ViewState {
	return view.selected === undefined ? { ...view, selected: rows[0], index: 0 } : view;
}

function scrolled(view: ViewState, by: number): ViewState {
	return { ...view, scroll: Math.max(0, view.scroll + by) };
}

function toggled(view: ViewState, pane: Pane): ViewState {
	return { ...view, pane: view.pane === pane ? undefined : pane, scroll: 0, culprit: undefined };
}

function hasCulprit({ pane, culprit }: ViewState): boolean {
	return culprit !== undefined && (pane === "details" || pane === "explain" || pane === "culprit");
}

function nextCulprit(view: ViewState, culprits: number): ViewState {
	const { pane, culprit = -1 } = view;
	if (culprits === 0 || (pane !== "details" && pane !== "explain" && pane !== "culprit")) return view;
	return { ...view, culprit: (culprit + 1) % culprits };
}
