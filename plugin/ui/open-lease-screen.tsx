// Opens and updates the screen of `kubectl xpdb leases -w`.
import type { ScreenTerminal } from "../terminal/screen-terminal.ts";
import { asciiGlyphs, unicodeGlyphs } from "./glyphs.ts";
import { LeaseBoard, type LeaseChange } from "./lease-board.ts";
import { leaseFrame } from "./lease-frame.ts";
import { firstLeaseView, pressLeaseKey } from "./lease-view.ts";
import { openTerminalScreen } from "./terminal-screen.tsx";
import { actOnWatch } from "./watch-action.ts";

export interface LeaseScreenOptions {
	readonly terminal: ScreenTerminal;
	readonly hasColour: boolean;
	readonly hasUnicode: boolean;
	readonly contexts: readonly string[];
	/** In ms since the epoch. */
	readonly wallClock: () => number;
	/** Called for Ctrl-C, which is a key in raw mode. The screen is already closed. */
	readonly onInterrupt: () => void;
	/** The screen is already closed. */
	readonly onLeave: () => void;
	/** The screen is already closed. */
	readonly onFailure: (error: Error) => void;
}

export interface LeaseScreen {
	see(change: LeaseChange): void;
	close(): void;
}

export function openLeaseScreen(options: LeaseScreenOptions): LeaseScreen {
	const { terminal, hasColour, hasUnicode, contexts, wallClock } = options;
	const board = new LeaseBoard();
	let view = firstLeaseView;
	const screen = openTerminalScreen({
		terminal,
		hasColour,
		frame: (size) =>
			leaseFrame(board, view, {
				...size,
				glyphs: hasUnicode ? unicodeGlyphs : asciiGlyphs,
				now: wallClock(),
				contexts,
			}),
		onKey(key) {
			const page = Math.max(1, terminal.stdout.rows - 6);
			const { view: next, action } = pressLeaseKey(view, key, board.keys(wallClock()), page);
			view = next;
			if (action) actOnWatch(action, screen, options);
		},
		onFailure: options.onFailure,
	});
	return {
		see(change) {
			const isFirst = board.knownSince === undefined;
			board.see(change, wallClock());
			if (isFirst) screen.draw();
			else screen.drawSoon(true);
		},
		close: () => screen.close(),
	};
}
