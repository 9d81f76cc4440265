// Computes the output that changes the terminal to the next frame: only the changed pieces of rows. It replaces Ink's drawing, which
// recomputes every cell and took most of an idle screen's CPU time.
import { styleText } from "node:util";
import { isNarrow, isSameLine, lineText, type Piece, type StyledLine, type Tone, widthOf } from "./styled-line.ts";

type Look = Extract<Parameters<typeof styleText>[0], readonly unknown[]>;

/** Only the eight standard colours, so that themes and contrast settings work. */
const looks: Readonly<Record<Tone, Look>> = {
	plain: [],
	dim: ["dim"],
	heading: ["dim"],
	bold: ["bold"],
	good: ["green"],
	warn: ["yellow"],
	bad: ["red", "bold"],
	accent: ["cyan"],
};

const begin = "\u001b[?2026h";
const end = "\u001b[?2026l";
const eraseRow = "\u001b[2K";
const eraseRest = "\u001b[K";

export class FrameWriter {
	readonly #hasColour: boolean;
	#shown: readonly StyledLine[] = [];

	constructor({ hasColour }: { readonly hasColour: boolean }) {
		this.#hasColour = hasColour;
	}

	/** Call it when the terminal no longer shows the last frame. */
	forget(): void {
		this.#shown = [];
	}

	/** "" if the terminal already shows this frame. No line may be wider than the terminal. */
	next(lines: readonly StyledLine[]): string {
		const before = this.#shown;
		const rows = Array.from({ length: Math.max(before.length, lines.length) }, (_, row) =>
			this.#row(row, before[row] ?? [], lines[row] ?? []),
		);
		this.#shown = lines;
		const text = rows.join("");
		return text === "" ? "" : begin + text + end;
	}

	#row(row: number, before: StyledLine, after: StyledLine): string {
		if (isSameLine(before, after)) return "";
		// Terminals disagree about the width of some characters, so the position after one of them is unknown.
		if (![...before, ...after].every(({ text }) => isNarrow(text))) {
			return at(row, 0) + eraseRow + this.#styled(after);
		}
		const { column, pieces } = changeOf(before, after);
		// Erase only after a shorter row: in the last column, some terminals would erase the character just written.
		const isShorter = widthOf(lineText(after)) < widthOf(lineText(before));
		return at(row, column) + this.#styled(pieces) + (isShorter ? eraseRest : "");
	}

	#styled(pieces: readonly Piece[]): string {
		return pieces.map(({ text, tone }) => (this.#hasColour ? styled(text, looks[tone]) : text)).join("");
	}
}

function changeOf(
	before: StyledLine,
	after: StyledLine,
): { readonly column: number; readonly pieces: readonly Piece[] } {
	let first = 0;
	while (first < after.length && isSame(before[first], after[first])) first += 1;
	let last = after.length;
	if (widthOf(lineText(before)) === widthOf(lineText(after))) {
		const more = before.length - after.length;
		while (last > first && last + more > first && isSame(before[last - 1 + more], after[last - 1])) last -= 1;
	}
	const column = lineText(after.slice(0, first)).length;
	const [changed, ...rest] = after.slice(first, last);
	if (!changed) return { column, pieces: [] };
	const stood = before[first];
	const same = stood?.tone === changed.tone ? sameFront(stood.text, changed.text) : 0;
	return { column: column + same, pieces: [{ ...changed, text: changed.text.slice(same) }, ...rest] };
}

function sameFront(a: string, b: string): number {
	let same = 0;
	while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
	return same;
}

function isSame(a: Piece | undefined, b: Piece | undefined): boolean {
	return a?.text === b?.text && a?.tone === b?.tone;
}

function at(row: number, column: number): string {
	return `\u001b[${row + 1};${column + 1}H`;
}

function styled(text: string, look: Look): string {
	return look.length === 0 || text === "" ? text : styleText(look, text, { validateStream: false });
}
