// The screen of `kubectl xpdb budgets -w`: opened, fed with changes, closed again.
import { type BudgetName, formatBudgetName } from "../../disruption/budget.ts";
import type { RowChanges } from "../fleet/budget-watch.ts";
import type { HealthyHistories } from "../fleet/healthy-history.ts";
import type { ScreenTerminal } from "../terminal/screen-terminal.ts";
import { BudgetBoard } from "./budget-board.ts";
import { budgetFrame, type WatchedNamespaces } from "./budget-frame.ts";
import { type BudgetAction, firstBudgetView, pressBudgetKey } from "./budget-view.ts";
import { asciiGlyphs, unicodeGlyphs } from "./glyphs.ts";
import { openTerminalScreen } from "./terminal-screen.tsx";

export interface BudgetScreenOptions {
	readonly terminal: ScreenTerminal;
	readonly hasColour: boolean;
	readonly hasUnicode: boolean;
	/** Until the members are known. */
	readonly contexts: readonly string[];
	readonly namespaces: WatchedNamespaces;
	/** Milliseconds since the epoch. */
	readonly wallClock: () => number;
	/** Why a pod of the budget may go now, or may not. Never rejects but with a bug. */
	readonly explain: (budget: BudgetName) => Promise<readonly string[]>;
	/** Ctrl-C: in raw mode it is a key, and no signal. The screen is closed. */
	readonly onInterrupt: () => void;
	/** The screen is closed. */
	readonly onLeave: () => void;
	/** The screen has failed, and is closed. */
	readonly onFailure: (error: Error) => void;
}

export interface BudgetScreen {
	see(changes: RowChanges): void;
	seeHistories(histories: HealthyHistories): void;
	/** Gives the terminal back as it was, at once. */
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
		// Somebody has asked about another one meanwhile.
		if (board.explanation !== asking) return;
		board.explanation = { ...asked, lines };
		screen.drawSoon(true);
	};
	const act = (action: BudgetAction): void => {
		switch (action) {
			case "explain": {
				const row = view.selected === undefined ? undefined : board.find(view.selected);
				if (row) explain(row).catch(fail);
				return;
			}
			case "interrupt":
				screen.close();
				return options.onInterrupt();
			case "leave":
				screen.close();
				return options.onLeave();
			case "suspend":
				return screen.suspend();
			case "redraw":
				return screen.redraw();
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
			}),
		onKey(key) {
			const around = {
				rows: board.shown(view, wallClock()),
				namespaces: board.namespaces(),
				page: Math.max(1, terminal.stdout.rows - 6),
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
