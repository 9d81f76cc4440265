// Wraps a line between words, and indents the following lines further.
import { cut, lineText, piece, type StyledLine, widthOf } from "./styled-line.ts";

const indent = "    ";

/** Leaves lines of several tones and headings whole, because these are table rows, which the caller cuts. */
export function wrapLine(line: StyledLine, columns: number): readonly StyledLine[] {
	const text = lineText(line);
	const tones = new Set(line.filter((each) => each.text.trim() !== "").map(({ tone }) => tone));
	if (widthOf(text) <= columns || tones.size > 1 || tones.has("heading")) return [line];
	const [tone = "plain"] = tones;
	const [front = ""] = /^ */.exec(text) ?? [];
	const lines: string[] = [];
	let current = "";
	for (const word of text.trim().split(" ")) {
		const before = lines.length === 0 ? front : front + indent;
		const longer = current === "" ? before + word : `${current} ${word}`;
		if (current !== "" && widthOf(longer) > columns) {
			lines.push(current);
			current = front + indent + word;
		} else current = longer;
	}
	return [...lines, current].map((each) => [piece(cut(each, columns), tone)]);
}
