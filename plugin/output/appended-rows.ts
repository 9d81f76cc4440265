// Rows that are appended for as long as somebody watches, as `kubectl get -w` does: headers once, and under them the columns of what came
// first.
import { tableLines } from "./table.ts";

export class AppendedRows {
	readonly #headers: readonly string[] | undefined;
	#widths: readonly number[] | undefined;

	/** Without headers: none are printed. */
	constructor(headers: readonly string[] | undefined) {
		this.#headers = headers;
	}

	lines(rows: readonly (readonly string[])[]): readonly string[] {
		if (rows.length === 0) return [];
		const before = this.#widths;
		const all = before ? rows : [...(this.#headers ? [this.#headers] : []), ...rows];
		// A wider row moves the columns once, and not back.
		this.#widths = widthsOf([...all, ...(before ? [before.map((width) => "-".repeat(width))] : [])]);
		const ruler = this.#widths.map((width) => "-".repeat(width));
		return tableLines(undefined, [ruler, ...all]).slice(1);
	}
}

function widthsOf(rows: readonly (readonly string[])[]): readonly number[] {
	const columns = Math.max(...rows.map(({ length }) => length));
	return Array.from({ length: columns }, (_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
}
