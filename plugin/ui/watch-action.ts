// Performs the actions that all watch screens share.
import type { TerminalScreen } from "./terminal-screen.tsx";

export type WatchAction = "leave" | "interrupt" | "suspend" | "redraw";

interface WatchEnds {
	/** Called for Ctrl-C. The screen is already closed. */
	readonly onInterrupt: () => void;
	/** The screen is already closed. */
	readonly onLeave: () => void;
}

export function actOnWatch(action: WatchAction, screen: TerminalScreen, { onInterrupt, onLeave }: WatchEnds): void {
	switch (action) {
		case "interrupt":
			screen.close();
			return onInterrupt();
		case "leave":
			screen.close();
			return onLeave();
		case "suspend":
			return screen.suspend();
		case "redraw":
			return screen.redraw();
	}
}
