// Carries out the actions of keys that concern the screen itself, on every watch screen.
import type { TerminalScreen } from "./terminal-screen.tsx";

export type WatchAction = "leave" | "interrupt" | "suspend" | "redraw";

interface WatchEnds {
	/** Called for Ctrl-C. The screen is closed. */
	readonly onInterrupt: () => void;
	/** Called when the user leaves the screen, which is closed. */
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
