// Opens and updates the screen of `kubectl xpdb budgets -w`.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { RowChanges } from "../fleet/budget-watch.ts";
import type { HealthyHistories } from "../fleet/healthy-history.ts";
import type { ScreenTerminal } from "../terminal/screen-terminal.ts";
import { BudgetBoard } from "./budget-board.ts";
import { budgetFrame, type WatchedNamespaces } from "./budget-frame.ts";
import { type BudgetAction, firstBudgetView, pressBudgetKey } from "./budget-view.ts";
import { asciiGlyphs, unicodeGlyphs } from "./glyphs.ts";
import type { ObjectName, ShownObject } from "./shown-object.ts";
import { openTerminalScreen } from "./terminal-screen.tsx";
import { actOnWatch } from "./watch-action.ts";

export interface BudgetScreenOptions {
	readonly terminal: ScreenTerminal;
	readonly hasColour: boolean;
	readonly hasUnicode: boolean;
	/** Shown until the members are known. */
	readonly contexts: readonly string[];
	readonly namespaces: WatchedNamespaces;
	/** In ms since the epoch. */
	readonly wallClock: () => number;
	/** Explains whether a pod of the budget can be evicted now. Never rejects, unless there is a bug. */
	readonly explain: (budget: BudgetName) => Promise<readonly string[]>;
	/** Returns an object in YAML, or why it cannot be read. Never rejects, unless there is a bug. */
	readonly readObject: (object: ObjectName) => Promise<readonly string[]>;
	readonly contextOf: (cluster: string) => string | undefined;
	readonly suggest: SuggestedCommands;
	/** Called for Ctrl-C, which is a key in raw mode. The screen is already closed. */
	readonly onInterrupt: () => void;
	/** The screen is already closed. */
	readonly onLeave: () => void;
	/** The screen is already closed. */
	readonly onFailure: (error: Error) => void;
}

export interface BudgetScreen {
	see(changes: RowChanges): void;
	seeHistories(histories: HealthyHistories): void;
	close(): void;
}

export function openBudgetScreen(options: BudgetScreenOptions): BudgetScreen {
	const { terminal, hasColour, hasUnicode, contexts, namespaces, wallClock } = options;
	const board = new BudgetBoard();
	let view = firstBudgetView;
	const fail = (error: unknown): void => {
		screen.close();
		options.onFailure(error instanceof Error ? error : new Error(String(error)));
	};
	const explain = async (row: BudgetName): Promise<void> => {
		const asked = { key: formatBudgetName(row), at: wallClock() };
		const asking = { ...asked, lines: undefined };
		board.explanation = asking;
		const lines = await options.explain({ namespace: row.namespace, name: row.name });
		// The user has asked about another budget meanwhile.
		if (board.explanation !== asking) return;
		board.explanation = { ...asked, lines };
		screen.drawSoon(true);
	};
	const readObject = async (object: ObjectName): Promise<void> => {
		const asking: ShownObject = { object, at: wallClock(), lines: undefined };
		board.object = asking;
		const lines = await options.readObject(object);
		// The user has asked for another object meanwhile.
		if (board.object !== asking) return;
		board.object = { ...asking, lines };
		screen.drawSoon(true);
	};
	const selectedRow = () => (view.selected === undefined ? undefined : board.find(view.selected));
	const selectedObject = (): ObjectName | undefined => {
		const row = selectedRow();
		const used = view.culprit === undefined ? undefined : row?.usedBy[view.culprit];
		if (used) {
			const { cluster, namespace, name } = used;
			return { kind: "pod", context: options.contextOf(cluster) ?? cluster, namespace, name };
		}
		return row && { kind: "budget", context: undefined, namespace: row.namespace, name: row.name };
	};
	const act = (action: BudgetAction): void => {
		switch (action) {
			case "object": {
				const object = selectedObject();
				if (object) readObject(object).catch(fail);
				return;
			}
			case "explain": {
				const row = selectedRow();
				if (row) explain(row).catch(fail);
				return;
			}
			case "interrupt":
			case "leave":
			case "suspend":
			case "redraw":
				return actOnWatch(action, screen, options);
		}
	};
	const screen = openTerminalScreen({
		terminal,
		hasColour,
		frame: (size) =>
			budgetFrame(board, view, {
				...size,
				glyphs: hasUnicode ? unicodeGlyphs : asciiGlyphs,
				now: wallClock(),
				contexts,
				namespaces,
				suggest: options.suggest,
				contextOf: options.contextOf,
			}),
		onKey(key) {
			const around = {
				rows: board.shown(view, wallClock()),
				namespaces: board.namespaces(),
				page: Math.max(1, terminal.stdout.rows - 6),
				culprits: selectedRow()?.usedBy.length ?? 0,
			};
			const { view: next, action } = pressBudgetKey(view, key, around);
			view = next;
			if (action) act(action);
		},
		onFailure: options.onFailure,
	});
	return {
		see(changes) {
			const isFirst = board.knownSince === undefined;
			board.see(changes, wallClock());
			if (isFirst) screen.draw();
			else screen.drawSoon(true);
		},
		seeHistories(histories) {
			board.seeHistories(histories);
			screen.drawSoon(true);
		},
		close: () => screen.close(),
	};
}
