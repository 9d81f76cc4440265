// Formats rows as kubectl does: columns padded to their widest cell, with three spaces between.
import { oneLine } from "../../disruption/printable.ts";
import { shortenTo } from "../../disruption/quote.ts";

/** Enough characters for the longest list of nodes that a person may want to copy. */
const longestCell = 8_000;

export function tableLines(
	headers: readonly string[] | undefined,
	rows: readonly (readonly string[])[],
): readonly string[] {
	const all = headers ? [headers, ...rows] : rows;
	const widths = columnWidths(all);
	return all.map((row) => rowLine(row, widths));
}

export function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
	const widths: number[] = [];
	for (const row of rows) {
		for (const [index, cell] of row.map(cellText).entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
	}
	return widths;
}

/** A wider cell moves the cells after it. */
export function rowLine(row: readonly string[], widths: readonly number[]): string {
	return row
		.map(cellText)
		.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
		.join("   ")
		.trimEnd();
}

function cellText(cell: string): string {
	return shortenTo(oneLine(cell), longestCell);
}

/** Shortens the widest columns until rows fit. `columns`: undefined if unlimited. */
export function fittedLines(
	headers: readonly string[] | undefined,
	rows: readonly (readonly string[])[],
	columns: number | undefined,
): readonly string[] {
	const all = headers ? [headers, ...rows] : rows;
	const widths = fittedWidths(columnWidths(all), columns);
	return all.map((row) => fittedRow(row, widths));
}

const narrowestColumn = 4;

/** Narrows the widest columns until a row fits into `columns`, but none below `narrowestColumn`. */
export function fittedWidths(wanted: readonly number[], columns: number | undefined): readonly number[] {
	if (columns === undefined) return wanted;
	const widths = [...wanted];
	const gaps = 3 * (widths.length - 1);
	for (let sum = widths.reduce((a, b) => a + b, gaps); sum > columns; sum -= 1) {
		const widest = widths.indexOf(Math.max(...widths));
		if ((widths[widest] ?? 0) <= narrowestColumn) break;
		widths[widest] = (widths[widest] ?? 0) - 1;
	}
	return widths;
}

/** A wider cell is shortened. */
export function fittedRow(row: readonly string[], widths: readonly number[]): string {
	const cells = row.map((cell, index) => shorten(cellText(cell), widths[index] ?? 0));
	return rowLine(cells, widths);
}

/** Cuts the middle, because a name's beginning shows its kind and its end identifies it. */
function shorten(text: string, width: number): string {
	if (text.length <= width) return text;
	const front = Math.ceil((width - 2) / 2);
	return `${text.slice(0, front)}..${text.slice(text.length - (width - 2 - front))}`;
}

/** Indents all lines but the first. `columns`: undefined if unlimited. */
export function wrappedLines(text: string, columns: number | undefined, indent = "    "): readonly string[] {
	if (columns === undefined || text.length <= columns) return [text];
	const lines: string[] = [];
	let line = "";
	const [front = ""] = /^ */.exec(text) ?? [];
	for (const word of text.trim().split(" ")) {
		const before = lines.length === 0 ? front : indent;
		if (line !== "" && before.length + line.length + 1 + word.length > columns) {
			lines.push(before + line);
			line = word;
		} else {
			line = line === "" ? word : `${line} ${word}`;
		}
	}
	return [...lines, (lines.length === 0 ? front : indent) + line];
}
