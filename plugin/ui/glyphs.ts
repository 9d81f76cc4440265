// Defines the glyphs of a frame, each one column wide, in Unicode and in ASCII.
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
	/** From lowest to highest. */
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
