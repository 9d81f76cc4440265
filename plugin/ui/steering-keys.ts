// Defines a pressed key, and the keys with the same meaning on every screen, as in less and vi.
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

/** The key must be pressed together with Ctrl. */
export function controlAction({ input }: KeyPress): "interrupt" | "suspend" | "redraw" | undefined {
	return controls[input];
}

export function isInterrupt(key: KeyPress): boolean {
	return key.ctrl && controlAction(key) === "interrupt";
}

/** Returns how many lines the key moves down, or up if negative. Undefined for other keys. `page`: lines per page. */
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
