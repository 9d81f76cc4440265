// Formats rows that a watch appends to a table, like `kubectl get -w`.
import { columnWidths, fittedRow, fittedWidths } from "./table.ts";

export interface AppendedRowsOptions {
	readonly headers?: readonly string[];
	/** The terminal's width. Undefined: unlimited. */
	readonly columns: () => number | undefined;
}

export class AppendedRows {
	readonly #options: AppendedRowsOptions;
	#widths: readonly number[] | undefined;

	constructor(options: AppendedRowsOptions) {
		this.#options = options;
	}

	lines(rows: readonly (readonly string[])[]): readonly string[] {
		if (rows.length === 0) return [];
		const { headers, columns } = this.#options;
		const all = this.#widths || !headers ? rows : [headers, ...rows];
		this.#widths = widest(columnWidths(all), this.#widths ?? []);
		const fitted = fittedWidths(this.#widths, columns());
		return all.map((row) => fittedRow(row, fitted));
	}
}

function widest(widths: readonly number[], before: readonly number[]): readonly number[] {
	const all = widths.length > before.length ? widths : before;
	return all.map((_, index) => Math.max(widths[index] ?? 0, before[index] ?? 0));
}
