// Defines what the user has selected on the Leases screen, and how keys change it.
import { controlAction, type KeyPress, stepOf } from "./steering-keys.ts";
import type { WatchAction } from "./watch-action.ts";

export interface LeaseView {
	readonly selected: string | undefined;
	readonly pane: "details" | "help" | undefined;
	/** How many lines of the pane are scrolled off the top. */
	readonly scroll: number;
}

export const firstLeaseView: LeaseView = { selected: undefined, pane: undefined, scroll: 0 };

interface PressedLeaseKey {
	readonly view: LeaseView;
	readonly action?: WatchAction;
}

/** `page`: rows per page. */
export function pressLeaseKey(view: LeaseView, key: KeyPress, rows: readonly string[], page: number): PressedLeaseKey {
	if (key.ctrl) {
		const action = controlAction(key);
		return action ? { view, action } : { view };
	}
	const step = stepOf(key, page);
	if (step !== undefined) {
		const scrolls = view.pane === "help" || (view.pane === "details" && Math.abs(step) > 1);
		return { view: scrolls ? { ...view, scroll: Math.max(0, view.scroll + step) } : moved(view, step, rows) };
	}
	switch (key.name || key.input) {
		case "enter":
			return { view: toggled(view.selected === undefined ? moved(view, 1, rows) : view, "details") };
		case "?":
		case "h":
			return { view: toggled(view, "help") };
		case "escape":
			return { view: { ...view, pane: undefined, scroll: 0 } };
		case "q":
			return { view, action: "leave" };
		default:
			return { view };
	}
}

function moved(view: LeaseView, by: number, rows: readonly string[]): LeaseView {
	if (rows.length === 0) return view;
	const at = view.selected === undefined ? -1 : rows.indexOf(view.selected);
	const from = at >= 0 ? at : by > 0 ? -1 : rows.length;
	const index = Math.min(rows.length - 1, Math.max(0, from + by));
	return { ...view, selected: rows[index], scroll: 0 };
}

function toggled(view: LeaseView, pane: "details" | "help"): LeaseView {
	return { ...view, pane: view.pane === pane ? undefined : pane, scroll: 0 };
}
