// A line of a frame: pieces of text, each with a tone. Every tone is doubled by a word or a glyph, so a line says the same without colour.
import stringWidth from "string-width";
import { oneLine } from "../../disruption/printable.ts";

/** "heading": of the columns of a table, which is cut where it does not fit, as its rows are. */
export type Tone = "plain" | "dim" | "heading" | "bold" | "good" | "warn" | "bad" | "accent";

export interface Piece {
	readonly text: string;
	readonly tone: Tone;
}

export type StyledLine = readonly Piece[];

/** ASCII, and the signs of a frame (glyphs.ts): a column each. Measuring any other text takes milliseconds. */
const narrow = /^[\x20-\x7e\u00b7\u2013\u2500\u2581-\u2588\u2591\u25cf\u2714\u2716]*$/;

/** Each of its characters takes one column, on every terminal. */
export function isNarrow(text: string): boolean {
	return narrow.test(text);
}

/** How many columns of a terminal it takes. */
export function widthOf(text: string): number {
	return isNarrow(text) ? text.length : stringWidth(text);
}

export function piece(text: string, tone: Tone = "plain"): Piece {
	return { text, tone };
}

export function lineText(line: StyledLine): string {
	return line.map(({ text }) => text).join("");
}

/** As much of the front as fits. */
export function cut(text: string, columns: number): string {
	if (widthOf(text) <= columns) return text;
	if (columns <= 2) return take(Array.from(text), Math.max(0, columns));
	return `${take(Array.from(text), columns - 2)}..`;
}

/** The middle goes: names tell their kind at the front and themselves at the end. */
export function cutMiddle(text: string, columns: number): string {
	if (widthOf(text) <= columns) return text;
	if (columns <= 4) return cut(text, columns);
	const characters = Array.from(text);
	const end = Math.floor((columns - 2) / 2);
	const back = take(characters.toReversed(), end);
	return `${take(characters, columns - 2 - end)}..${Array.from(back).toReversed().join("")}`;
}

/** Exactly so many columns. */
export function padded(text: string, columns: number): string {
	const fitting = cut(text, columns);
	return fitting + " ".repeat(Math.max(0, columns - widthOf(fitting)));
}

/** A name in exactly so many columns. */
export function paddedName(text: string, columns: number): string {
	return padded(cutMiddle(text, columns), columns);
}

/** At most so many columns: what is beyond them goes. Nothing in it steers the terminal. */
export function fitLine(line: StyledLine, columns: number): StyledLine {
	const fitting: Piece[] = [];
	let left = columns;
	for (const each of line) {
		if (left <= 0) break;
		const text = cut(isNarrow(each.text) ? each.text : oneLine(each.text), left);
		fitting.push({ ...each, text });
		left -= widthOf(text);
	}
	return fitting;
}

/** The second half ends at the right edge; where both do not fit, the first gives way. */
export function spread(left: StyledLine, right: StyledLine, columns: number): StyledLine {
	const rest = columns - widthOf(lineText(right));
	const front = fitLine(left, Math.max(0, rest - 1));
	const gap = Math.max(0, rest - widthOf(lineText(front)));
	return fitLine([...front, piece(" ".repeat(gap)), ...right], columns);
}

function take(characters: readonly string[], columns: number): string {
	let text = "";
	let used = 0;
	for (const character of characters) {
		const width = widthOf(character);
		if (used + width > columns) break;
		text += character;
		used += width;
	}
	return text;
}

export function isSameLine(a: StyledLine, b: StyledLine): boolean {
	return a.length === b.length && a.every((each, at) => each.text === b[at]?.text && each.tone === b[at].tone);
}
