// The screen of a run on a real terminal: opened, fed with events, closed again with the terminal as it was.
import { type Instance, render } from "ink";
import type { RunEvent } from "../events/events.ts";
import { flatEvent } from "../output/flat-event.ts";
import type { ScreenTerminal } from "../terminal/screen-terminal.ts";
import { drainFrame, selectableRows } from "./drain-frame.ts";
import { asciiGlyphs, unicodeGlyphs } from "./glyphs.ts";
import { RunFacts } from "./run-facts.ts";
import { Screen } from "./Screen.tsx";
import { isSameLine, type StyledLine } from "./styled-line.ts";
import { type Action, firstView, type KeyPress, pressKey, type ViewState } from "./view-state.ts";

export interface ScreenOptions {
	readonly terminal: ScreenTerminal;
	readonly hasColour: boolean;
	readonly hasUnicode: boolean;
	readonly command: string;
	readonly op: string;
	readonly agentNamespace: string;
	/** Milliseconds since the epoch. */
	readonly wallClock: () => number;
	readonly onPause: (paused: boolean) => void;
	/** Ctrl-C: in raw mode it is a key, and no signal. */
	readonly onInterrupt: () => void;
	/** The person wants plain lines; the screen is closed. */
	readonly onLeave: () => void;
	/** The screen has failed, and is closed. */
	readonly onFailure: (error: Error) => void;
}

export interface OpenScreen {
	see(event: RunEvent): void;
	/** Gives the terminal back as it was, at once. */
	close(): void;
}

/** Four frames a second for events: more nobody reads, and ssh has to carry them. Keys are answered at once. */
const frameEveryMs = 250;
/** Times tick; every other second where nothing else has changed for a while. */
const tickEveryMs = 1_000;
const quietAfterMs = 5_000;

export function openScreen(options: ScreenOptions): OpenScreen {
	const { terminal, wallClock, hasColour, hasUnicode, command, op, agentNamespace } = options;
	const { stdin, stdout } = terminal;
	const facts = new RunFacts();
	const listeners = new Set<() => void>();
	let view: ViewState = firstView;
	let lines: readonly StyledLine[] = [];
	let isClosed = false;
	let isSuspended = false;
	let flush: NodeJS.Timeout | undefined;
	/** When somebody pressed a key or something happened. */
	let changedAt = 0;
	let isOdd = false;

	const draw = (): void => {
		clearTimeout(flush);
		flush = undefined;
		const next = drainFrame(facts, view, {
			columns: stdout.columns,
			rows: stdout.rows,
			glyphs: hasUnicode ? unicodeGlyphs : asciiGlyphs,
			now: wallClock(),
			command,
			op,
			agentNamespace,
		});
		if (next.length === lines.length && next.every((line, at) => isSameLine(line, lines[at] ?? []))) return;
		lines = next;
		for (const changed of listeners) changed();
	};
	const act = (action: Action): void => {
		switch (action) {
			case "pause":
				return options.onPause(!facts.isPaused);
			case "interrupt":
				return options.onInterrupt();
			case "leave":
				close();
				return options.onLeave();
			case "suspend":
				return suspend();
			case "redraw":
				return redraw();
		}
	};
	const press = (key: KeyPress): void => {
		const { view: next, action } = pressKey(view, key, selectableRows(facts), Math.max(1, stdout.rows - 6));
		view = next;
		changedAt = wallClock();
		if (action) act(action);
		if (!isClosed && !isSuspended) draw();
	};
	/** Whatever stands there: another program may have written over it. */
	const redraw = (): void => {
		if (isClosed || isSuspended) return;
		instance.clear();
		stdout.write("\u001b[2J\u001b[H");
		lines = [];
		draw();
	};
	const suspend = (): void => {
		isSuspended = true;
		leaveTerminal();
		process.once("SIGCONT", () => {
			isSuspended = false;
			if (!isClosed) enterTerminal();
		});
		// The whole group, as the terminal does it: the shell then knows that its job has stopped.
		process.kill(0, "SIGTSTP");
	};
	const source = {
		frame: () => lines,
		subscribe(changed: () => void) {
			listeners.add(changed);
			return () => void listeners.delete(changed);
		},
		press,
		hasColour,
	};
	let instance: Instance;
	const enterTerminal = (): void => {
		draw();
		instance = render(<Screen source={source} />, {
			stdin,
			stdout,
			alternateScreen: true,
			incrementalRendering: true,
			exitOnCtrlC: false,
			patchConsole: false,
			interactive: true,
			isScreenReaderEnabled: false,
		});
		instance.waitUntilExit().catch((error: unknown) => {
			if (isClosed) return;
			close();
			options.onFailure(error instanceof Error ? error : new Error(String(error)));
		});
	};
	const leaveTerminal = (): void => {
		instance.unmount();
		instance.cleanup();
	};
	const close = (): void => {
		if (isClosed) return;
		isClosed = true;
		clearInterval(tick);
		clearTimeout(flush);
		stdout.off("resize", redraw);
		stdin.off("error", ignore);
		if (!isSuspended) leaveTerminal();
	};
	// A terminal that goes away ends the input with an error; SIGHUP says it too.
	const ignore = (): void => undefined;
	stdin.on("error", ignore);
	enterTerminal();
	stdout.on("resize", redraw);
	const tick = setInterval(() => {
		isOdd = !isOdd;
		if (isOdd || wallClock() - changedAt < quietAfterMs) draw();
	}, tickEveryMs);
	tick.unref();
	return {
		see(event) {
			changedAt = wallClock();
			facts.see(flatEvent(event), changedAt);
			if (isClosed || isSuspended) return;
			// What somebody asked for is shown at once.
			if (event.type === "paused" || event.type === "resumed" || event.type === "interrupted") draw();
			else flush ??= setTimeout(draw, frameEveryMs);
		},
		close,
	};
}
