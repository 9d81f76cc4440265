// A full screen on a real terminal: frames as lines, keys, and the terminal as it was when it is closed. What is drawn is its owner's matter.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Instance, render } from "ink";
import type { ScreenTerminal } from "../terminal/screen-terminal.ts";
import { FrameWriter } from "./frame-writer.ts";
import { Keys } from "./Keys.tsx";
import { isInterrupt, type KeyPress } from "./steering-keys.ts";
import type { StyledLine } from "./styled-line.ts";

export interface TerminalScreenOptions {
	readonly terminal: ScreenTerminal;
	readonly hasColour: boolean;
	/** The lines for a terminal of this size, which change for its owner's reasons and because time passes. */
	readonly frame: (size: { readonly columns: number; readonly rows: number }) => readonly StyledLine[];
	/** Afterwards a frame is drawn, where the screen is still there. */
	readonly onKey: (key: KeyPress) => void;
	/** The screen has failed, and is closed. */
	readonly onFailure: (error: Error) => void;
}

export interface TerminalScreen {
	/** Now. */
	draw(): void;
	/** With what else changes in a quarter of a second. Times tick every second for a while where something moved. */
	drawSoon(hasMoved: boolean): void;
	/** Whatever stands there: another program may have written over it. */
	redraw(): void;
	/** To the shell, as Ctrl-Z does it. */
	suspend(): void;
	/** Gives the terminal back as it was, at once. */
	close(): void;
}

/** Four frames a second for what happens: more nobody reads, and ssh has to carry them. Keys are answered at once. */
const frameEveryMs = 250;
/** Times tick; every other second where nothing has moved for a while. */
const tickEveryMs = 1_000;
const quietAfterMs = 5_000;

export function openTerminalScreen(options: TerminalScreenOptions): TerminalScreen {
	const { stdin, stdout } = options.terminal;
	const writer = new FrameWriter(options);
	let isClosed = false;
	/** To a program that asks. */
	let isLent = options.terminal.turns.isTaken;
	let isSuspended = false;
	const isAway = (): boolean => isLent || isSuspended;
	let flush: NodeJS.Timeout | undefined;
	/** When somebody pressed a key or something moved. */
	let changedAt = 0;
	let isOdd = false;

	const draw = (): void => {
		clearTimeout(flush);
		flush = undefined;
		if (isClosed || isAway()) return;
		const change = writer.next(options.frame({ columns: stdout.columns, rows: stdout.rows }));
		if (change !== "") stdout.write(change);
	};
	const redraw = (): void => {
		if (isClosed || isAway()) return;
		stdout.write("\u001b[2J\u001b[H");
		writer.forget();
		draw();
	};
	let pressed: KeyPress[] = [];
	const answer = (): void => {
		changedAt = performance.now();
		const keys = pressed;
		pressed = [];
		// Left: what else came with it is for nobody, but a Ctrl-C, which in raw mode was no signal either.
		for (const key of keys) if (!isClosed || isInterrupt(key)) options.onKey(key);
		draw();
	};
	// Not one by one: whoever leaves unmounts Ink, and the rest of what was read with that key it would tell nobody.
	const press = (keys: readonly KeyPress[]): void => {
		if (pressed.length === 0) queueMicrotask(answer);
		pressed.push(...keys);
	};
	let instance: Instance;
	const enterTerminal = (): void => {
		instance = render(<Keys onKeys={press} />, {
			stdin,
			stdout,
			alternateScreen: true,
			exitOnCtrlC: false,
			patchConsole: false,
			interactive: true,
			isScreenReaderEnabled: false,
		});
		writer.forget();
		draw();
		// After Ink's own listener, which erases some rows where the terminal has become narrower.
		stdout.on("resize", redraw);
		instance.waitUntilExit().catch((error: unknown) => {
			if (isClosed) return;
			close();
			options.onFailure(error instanceof Error ? error : new Error(String(error)));
		});
	};
	const leaveTerminal = (): void => {
		stdout.off("resize", redraw);
		instance.unmount();
		instance.cleanup();
	};
	const close = (): void => {
		if (isClosed) return;
		isClosed = true;
		clearInterval(tick);
		clearTimeout(flush);
		takeBack();
		if (!isAway()) leaveTerminal();
		// What is typed while the run goes on in plain lines, or ends, is for the shell.
		void stopReading();
	};
	/** Ink leaves the terminal being read. Not before its listener is forgotten: until then a stream says that it is paused already, and reads on. */
	const stopReading = async (): Promise<void> => {
		await nextTurn();
		stdin.pause();
	};
	const takeBack = options.terminal.turns.show({
		async leave() {
			if (isClosed || isLent) return;
			isLent = true;
			if (!isSuspended) leaveTerminal();
			await stopReading();
		},
		comeBack() {
			if (isClosed || !isLent) return;
			isLent = false;
			if (!isSuspended) enterTerminal();
		},
	});
	// A terminal that goes away ends the input with an error, or does when it is given back after the screen; SIGHUP says it too.
	stdin.on("error", () => undefined);
	if (!isAway()) enterTerminal();
	const tick = setInterval(() => {
		isOdd = !isOdd;
		// With what changes in a moment, where something does: no fifth frame in a second.
		if (isOdd || performance.now() - changedAt < quietAfterMs) flush ??= setTimeout(draw, frameEveryMs);
	}, tickEveryMs);
	tick.unref();
	return {
		draw() {
			changedAt = performance.now();
			draw();
		},
		drawSoon(hasMoved) {
			if (hasMoved) changedAt = performance.now();
			if (!isClosed && !isAway()) flush ??= setTimeout(draw, frameEveryMs);
		},
		redraw,
		suspend() {
			// It has no jobs that stop: the signal is unknown there.
			if (process.platform === "win32") return;
			isSuspended = true;
			leaveTerminal();
			process.once("SIGCONT", () => {
				isSuspended = false;
				// A login may have begun to ask before the signal came: the screen is back after it.
				if (!isClosed && !isLent) enterTerminal();
			});
			// The whole group, as the terminal does it: the shell then knows that its job has stopped.
			process.kill(0, "SIGTSTP");
		},
		close,
	};
}
