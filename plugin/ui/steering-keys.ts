// A key that was pressed, and the keys that mean the same on every screen, as in less and vi.
export interface KeyPress {
	/** A printable character, or "". */
	readonly input: string;
	readonly name: "up" | "down" | "pageUp" | "pageDown" | "enter" | "escape" | "tab" | "backspace" | "";
	readonly ctrl: boolean;
}

const controls: Readonly<Record<string, "interrupt" | "suspend" | "redraw">> = {
	c: "interrupt",
	z: "suspend",
	l: "redraw",
};

/** Of a key that is pressed together with Ctrl. */
export function controlAction({ input }: KeyPress): "interrupt" | "suspend" | "redraw" | undefined {
	return controls[input];
}

export function isInterrupt(key: KeyPress): boolean {
	return key.ctrl && controlAction(key) === "interrupt";
}

/** How many lines it goes on; undefined for a key that goes nowhere. `page`: how many lines a page is. */
export function stepOf({ name, input }: KeyPress, page: number): number | undefined {
	switch (name || input) {
		case "up":
		case "k":
			return -1;
		case "down":
		case "j":
			return 1;
		case "pageUp":
			return -page;
		case "pageDown":
		case " ":
			return page;
		default:
			return undefined;
	}
}
