// What a frame is drawn with: signs of one column each, or plain ASCII where the terminal has no more.
export interface Glyphs {
	readonly done: string;
	readonly busy: string;
	readonly waiting: string;
	readonly queued: string;
	readonly failed: string;
	readonly full: string;
	readonly empty: string;
	readonly rule: string;
	readonly dash: string;
	/** From the lowest to the highest. */
	readonly levels: readonly string[];
}

export const unicodeGlyphs: Glyphs = {
	done: "✔",
	busy: "●",
	waiting: "!",
	queued: "·",
	failed: "✖",
	full: "█",
	empty: "░",
	rule: "─",
	dash: "–",
	levels: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
};

export const asciiGlyphs: Glyphs = {
	done: "+",
	busy: "*",
	waiting: "!",
	queued: ".",
	failed: "x",
	full: "#",
	empty: ".",
	rule: "-",
	dash: "-",
	levels: ["_", ".", "-", "=", "+", "*", "#"],
};
