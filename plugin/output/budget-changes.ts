// Formats `kubectl xpdb budgets -w` as a growing table like that of `kubectl get -w`. The first rows set the widths.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type { BudgetRow } from "../fleet/budget-table.ts";
import type { MemberState } from "../fleet/watched-member.ts";
import { budgetCells, budgetHeaders, budgetNotes, fitLast } from "./budget-lines.ts";
import { columnWidths, fittedRow, fittedWidths, rowLine } from "./table.ts";

export interface BudgetChangesOptions {
	/** Adds a column for each cluster, and the bound. */
	readonly isWide: boolean;
	readonly headers: boolean;
	/** The terminal's width. Undefined: unlimited. */
	readonly columns: () => number | undefined;
	/** In ms since the epoch. */
	readonly now: () => number;
}

export class BudgetChangeLines {
	readonly #options: BudgetChangesOptions;
	/** The last row of each budget, without its times. */
	readonly #printed = new Map<string, string>();
	readonly #notes = new Map<string, string>();
	#widths: readonly number[] | undefined;

	constructor(options: BudgetChangesOptions) {
		this.#options = options;
	}

	/** For stdout. */
	rows(changed: readonly BudgetRow[], gone: readonly BudgetName[], members: readonly MemberState[]): readonly string[] {
		const { isWide, now, headers, columns } = this.#options;
		const clusters = members.map(({ name }) => name);
		const visible = changed.filter((row) => {
			const text = JSON.stringify(budgetCells(row, { isWide, clusters, now: 0 }));
			const key = formatBudgetName(row);
			if (this.#printed.get(key) === text) return false;
			this.#printed.set(key, text);
			return true;
		});
		const cells = visible.map((row) => budgetCells(row, { isWide, clusters, now: now() }));
		for (const { namespace, name } of gone) {
			this.#printed.delete(formatBudgetName({ namespace, name }));
			cells.push([namespace, name, "gone", "-", "-", "-"]);
		}
		if (cells.length === 0) return [];
		const all = this.#widths || !headers ? cells : [budgetHeaders({ isWide, clusters }), ...cells];
		const widths = (this.#widths ??= columnWidths(all));
		if (isWide) return all.map((row) => fittedRow(row, fittedWidths(widths, columns())));
		return all.map((row) => fitLast(rowLine(row, widths), columns()));
	}

	/** For stderr: what the rows have no room for, if it has changed. */
	notes(changed: readonly BudgetRow[], members: readonly MemberState[]): readonly string[] {
		const { now } = this.#options;
		const answering = members.filter(({ problem }) => problem === undefined).map(({ name }) => name);
		return [
			...members.flatMap((member) => this.#told(`member ${member.name}`, memberNote(member))),
			...changed.flatMap((row) => {
				// A silent member is reported once, not for each budget.
				const isSilent = row.problem !== undefined && answering.length < members.length;
				const noteAt = (at: number): string => (isSilent ? "" : budgetNotes(row, answering, at).join("\n"));
				return this.#told(formatBudgetName(row), noteAt(0), noteAt(now()));
			}),
		];
	}

	/** `lasting`: the note without times, because these change at every moment. */
	#told(of: string, lasting: string, note = lasting): readonly string[] {
		const before = this.#notes.get(of) ?? "";
		if (before === lasting) return [];
		this.#notes.set(of, lasting);
		if (note !== "") return note.split("\n");
		return of.startsWith("member ") ? [`${of.slice("member ".length)}: answers again`] : [];
	}
}

function memberNote({ name, problem, isPolled }: MemberState): string {
	if (problem !== undefined) return `error: ${name}: ${problem}`;
	return isPolled ? `${name}: its agent is older than budgets -w: it is asked every 5 s or more seldom` : "";
}
