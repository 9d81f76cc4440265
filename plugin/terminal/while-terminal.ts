import { closeSync, openSync } from "node:fs";

const lookEveryMs = 200;

/**
 * Returns a signal that aborts when the process's terminal is closed or its shell has ended. It never aborts if the process starts without
 * a terminal.
 */
export function whileTerminal(hasTerminal: () => boolean = canOpenTerminal): AbortSignal {
	const controller = new AbortController();
	if (!hasTerminal()) return controller.signal;
	const timer = setInterval(() => {
		if (hasTerminal()) return;
		clearInterval(timer);
		controller.abort();
	}, lookEveryMs);
	timer.unref();
	return controller.signal;
}

/** Whether the terminal can be opened. It cannot as soon as the shell that it belonged to has ended. */
function canOpenTerminal(): boolean {
	try {
		closeSync(openSync("/dev/tty", "r"));
		return true;
	} catch {
		return false;
	}
}
