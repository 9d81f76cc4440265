// Splits the rows of a screen into runs of the same look.
import type { Cell, TerminalEmulator } from "../support/terminal-emulator.ts";

/** Characters of the same look. Runs of blanks are left out. */
export interface ScreenRun {
	readonly column: number;
	/** In columns. */
	readonly width: number;
	readonly text: string;
	readonly looks: string;
}

export type ScreenRow = readonly ScreenRun[];

export function screenRows({ cells }: TerminalEmulator): readonly ScreenRow[] {
	return cells.map(rowOf);
}

function rowOf(cells: readonly (Cell | undefined)[]): ScreenRow {
	const runs: ScreenRun[] = [];
	for (const [column, cell] of cells.entries()) {
		if (!cell) continue;
		const { character, looks } = cell;
		const last = runs.at(-1);
		if (last && last.looks === looks && last.column + last.width === column)
			runs[runs.length - 1] = { ...last, width: last.width + 1, text: last.text + character };
		else runs.push({ column, width: 1, text: character, looks });
	}
	return runs.flatMap(trimmed);
}

function trimmed(run: ScreenRun): readonly ScreenRun[] {
	const text = run.text.trim();
	const front = run.text.length - run.text.trimStart().length;
	return text === "" ? [] : [{ ...run, column: run.column + front, width: text.length, text }];
}
