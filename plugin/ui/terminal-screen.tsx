// Runs a full screen on a terminal: draws frames, reads keys, and restores the terminal.
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
	/** Returns the lines for a terminal of this size. They may also change with time. */
	readonly frame: (size: { readonly columns: number; readonly rows: number }) => readonly StyledLine[];
	/** A frame is drawn afterwards, if the screen is still open. */
	readonly onKey: (key: KeyPress) => void;
	/** The screen is already closed. */
	readonly onFailure: (error: Error) => void;
}

export interface TerminalScreen {
	draw(): void;
	/** Draws within a quarter of a second. `hasMoved`: clocks then tick every second for a while. */
	drawSoon(hasMoved: boolean): void;
	/** Draws everything, because another program may have written to the terminal. */
	redraw(): void;
	/** Like Ctrl-Z. */
	suspend(): void;
	close(): void;
}

/** People cannot read more frames, and SSH has to transfer them. Keys get an immediate response. */
const frameEveryMs = 250;
/** Clocks tick every second, or every other second if nothing has moved for a while. */
const tickEveryMs = 1_000;
const quietAfterMs = 5_000;

export function openTerminalScreen(options: TerminalScreenOptions): TerminalScreen {
	const { stdin, stdout } = options.terminal;
	const writer = new FrameWriter(options);
	let isClosed = false;
	let isLent = options.terminal.turns.isTaken;
	let isSuspended = false;
	const isAway = (): boolean => isLent || isSuspended;
	let flush: NodeJS.Timeout | undefined;
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
		// After the screen is closed, only Ctrl-C still counts: in raw mode it was not a signal.
		for (const key of keys) if (!isClosed || isInterrupt(key)) options.onKey(key);
		draw();
	};
	// Collect keys first: a key that leaves the screen unmounts Ink, which would drop the other keys of the same read.
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
		// Must run after Ink's own listener, which erases some rows if the terminal has become narrower.
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
		// Later input belongs to the shell, even while the run continues with plain lines.
		void stopReading();
	};
	/** Ink does not stop reading. Until its listener is removed, the stream looks paused but continues to read. */
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
	// If the terminal goes away, reading from it or restoring it fails. SIGHUP reports the same.
	stdin.on("error", () => undefined);
	if (!isAway()) enterTerminal();
	const tick = setInterval(() => {
		isOdd = !isOdd;
		// Drawn together with pending changes, so that there is no fifth frame in a second.
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
			// Windows has no job control.
			if (process.platform === "win32") return;
			isSuspended = true;
			leaveTerminal();
			process.once("SIGCONT", () => {
				isSuspended = false;
				// If a login took the terminal before the signal came, the screen returns after the login.
				if (!isClosed && !isLent) enterTerminal();
			});
			// Stops the whole process group, as the terminal does, so that the shell notices.
			process.kill(0, "SIGTSTP");
		},
		close,
	};
}
