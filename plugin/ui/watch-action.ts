// The actions of every watch screen for the keys that concern the screen itself.
import type { TerminalScreen } from "./terminal-screen.tsx";

export type WatchAction = "leave" | "interrupt" | "suspend" | "redraw";

interface WatchEnds {
	/** The screen is closed. */
	readonly onInterrupt: () => void;
	/** The screen is closed. */
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
