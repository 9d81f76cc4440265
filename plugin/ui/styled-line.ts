// Defines a line of a frame as pieces of text with a tone. Words or glyphs repeat each tone's meaning, so lines are complete without
// colour.
import stringWidth from "string-width";
import { oneLine } from "../../disruption/printable.ts";

/** "heading": a line of a table, usually its header. It is cut, and not wrapped. */
export type Tone = "plain" | "dim" | "heading" | "bold" | "good" | "warn" | "bad" | "accent";

export interface Piece {
	readonly text: string;
	readonly tone: Tone;
}

export type StyledLine = readonly Piece[];

/** ASCII and the glyphs of glyphs.ts, each one column wide. Measuring any other text takes milliseconds. */
const narrow = /^[\x20-\x7e\u00b7\u2013\u2500\u2581-\u2588\u2591\u25cf\u2714\u2716]*$/;

/** Whether each character takes one column on every terminal. */
export function isNarrow(text: string): boolean {
	return narrow.test(text);
}

export function widthOf(text: string): number {
	return isNarrow(text) ? text.length : stringWidth(text);
}

export function piece(text: string, tone: Tone = "plain"): Piece {
	return { text, tone };
}

export function lineText(line: StyledLine): string {
	return line.map(({ text }) => text).join("");
}

export function cut(text: string, columns: number): string {
	if (widthOf(text) <= columns) return text;
	if (columns <= 2) return take(Array.from(text), Math.max(0, columns));
	return `${take(Array.from(text), columns - 2)}..`;
}

/** Cuts the middle, because a name's beginning shows its kind and its end identifies it. */
export function cutMiddle(text: string, columns: number): string {
	if (widthOf(text) <= columns) return text;
	if (columns <= 4) return cut(text, columns);
	const characters = Array.from(text);
	const end = Math.floor((columns - 2) / 2);
	const back = take(characters.toReversed(), end);
	return `${take(characters, columns - 2 - end)}..${Array.from(back).toReversed().join("")}`;
}

export function padded(text: string, columns: number): string {
	const fitting = cut(text, columns);
	return fitting + " ".repeat(Math.max(0, columns - widthOf(fitting)));
}

export function paddedName(text: string, columns: number): string {
	return padded(cutMiddle(text, columns), columns);
}

/** Cuts the line to this many columns, and makes control characters harmless. */
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

/** `right` ends at the right edge. If both do not fit, `left` is shortened. */
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
