// Opens the screen of a run and passes events to it.
import type { RunEvent } from "../events/events.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { flatEvent } from "../output/flat-event.ts";
import type { ScreenTerminal } from "../terminal/screen-terminal.ts";
import { drainFrame, selectableRows } from "./drain-frame.ts";
import { culpritCount } from "./explain-lines.ts";
import { asciiGlyphs, unicodeGlyphs } from "./glyphs.ts";
import { RunFacts } from "./run-facts.ts";
import { selectedObject } from "./selected-object.ts";
import type { ObjectName, ShownObject } from "./shown-object.ts";
import { openTerminalScreen } from "./terminal-screen.tsx";
import { type Action, firstView, pressKey, type ViewState } from "./view-state.ts";

export interface ScreenOptions {
	readonly terminal: ScreenTerminal;
	readonly hasColour: boolean;
	readonly hasUnicode: boolean;
	readonly command: string;
	readonly op: string;
	readonly suggest: SuggestedCommands;
	/** In ms since the epoch. */
	readonly wallClock: () => number;
	/** Returns an object in YAML, or why it cannot be read. Never rejects, unless there is a bug. */
	readonly readObject: (object: ObjectName) => Promise<readonly string[]>;
	readonly onPause: (paused: boolean) => void;
	/** Called for Ctrl-C, which is a key in raw mode. */
	readonly onInterrupt: () => void;
	/** Called when the user wants plain lines. The screen is already closed. */
	readonly onLeave: () => void;
	/** The screen is already closed. */
	readonly onFailure: (error: Error) => void;
}

export interface OpenScreen {
	see(event: RunEvent): void;
	close(): void;
}

/** After one of these events, the clocks tick every second for a while. Retries and waits do not count. */
const moves: ReadonlySet<RunEvent["type"]> = new Set([
	"run.started",
	"node.draining",
	"node.drained",
	"node.failed",
	"pod.accepted",
	"pod.evicted",
	"pod.gone",
	"pod.failed",
	"pod.stopped",
	"budget.changed",
	"cluster.unreachable",
	"cluster.recovered",
]);

export function openScreen(options: ScreenOptions): OpenScreen {
	const { terminal, wallClock, hasColour, hasUnicode, command, op, suggest } = options;
	const facts = new RunFacts();
	let view: ViewState = firstView;
	let shown: ShownObject | undefined;
	const readObject = async (object: ObjectName): Promise<void> => {
		const asking: ShownObject = { object, at: wallClock(), lines: undefined };
		shown = asking;
		const lines = await options.readObject(object);
		// The user has asked for another object meanwhile.
		if (shown !== asking) return;
		shown = { ...asking, lines };
		screen.drawSoon(true);
	};
	const fail = (error: unknown): void => {
		screen.close();
		options.onFailure(error instanceof Error ? error : new Error(String(error)));
	};
	const act = (action: Action): void => {
		switch (action) {
			case "pause":
				return options.onPause(!facts.isPaused);
			case "object": {
				const object = selectedObject(facts, view);
				shown = undefined;
				if (object) readObject(object).catch(fail);
				return;
			}
			case "interrupt":
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
			drainFrame(facts, view, {
				...size,
				glyphs: hasUnicode ? unicodeGlyphs : asciiGlyphs,
				now: wallClock(),
				command,
				op,
				suggest,
				object: shown,
			}),
		onKey(key) {
			const page = Math.max(1, terminal.stdout.rows - 6);
			const { view: next, action } = pressKey(view, key, selectableRows(facts), page, culpritCount(facts, view));
			view = next;
			if (action) act(action);
		},
		onFailure: options.onFailure,
	});
	return {
		see(event) {
			facts.see(flatEvent(event), wallClock());
			// A response to the user must not wait.
			if (event.type === "paused" || event.type === "resumed" || event.type === "interrupted") screen.draw();
			else screen.drawSoon(moves.has(event.type));
		},
		close: () => screen.close(),
	};
}
