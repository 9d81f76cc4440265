// Rows as kubectl prints them: columns padded to their widest cell, three spaces between.
import { printable } from "../printable.ts";

export function tableLines(
	headers: readonly string[] | undefined,
	rows: readonly (readonly string[])[],
): readonly string[] {
	const all = (headers ? [headers, ...rows] : rows).map((row) => row.map(printable));
	const widths: number[] = [];
	for (const row of all) {
		for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
	}
	return all.map((row) =>
		row
			.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
			.join("   ")
			.trimEnd(),
	);
}
