// Keeps the rows of the budgets screen and their order. Unless the user sorts, the order changes at most every five seconds, so that rows
// do not jump.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { BudgetRow } from "../fleet/budget-table.ts";
import type { RowChanges } from "../fleet/budget-watch.ts";
import type { HealthyHistories, HealthyHistory } from "../fleet/healthy-history.ts";
import type { MemberState } from "../fleet/watched-member.ts";
import type { ShownObject } from "./shown-object.ts";
import { type BudgetView, isShown, type SortColumn } from "./budget-view.ts";

export interface BudgetExplanation {
	readonly key: string;
	readonly at: number;
	readonly lines: readonly string[] | undefined;
}

const orderEveryMs = 5_000;

export class BudgetBoard {
	readonly #rows = new Map<string, BudgetRow>();
	#histories: HealthyHistories = new Map();
	#order: readonly string[] = [];
	#orderedAt = Number.NEGATIVE_INFINITY;
	#orderedBy = "";
	members: readonly MemberState[] = [];
	/** Of all budgets so far, so that columns keep their place. */
	longestName = 0;
	explanation: BudgetExplanation | undefined;
	object: ShownObject | undefined;
	/** Undefined until the first call of see(). */
	knownSince: number | undefined;

	seeHistories(histories: HealthyHistories): void {
		this.#histories = histories;
	}

	history(key: string): HealthyHistory | undefined {
		return this.#histories.get(key);
	}

	see({ changed, gone, members }: RowChanges, now: number): void {
		this.members = members;
		// The first rows must appear sorted.
		if (this.knownSince === undefined) this.#orderedAt = Number.NEGATIVE_INFINITY;
		this.knownSince ??= now;
		for (const row of changed) {
			const key = formatBudgetName(row);
			this.#rows.set(key, row);
			this.longestName = Math.max(this.longestName, key.length);
		}
		for (const name of gone) this.#rows.delete(formatBudgetName(name));
	}

	get size(): number {
		return this.#rows.size;
	}

	find(key: string): BudgetRow | undefined {
		return this.#rows.get(key);
	}

	all(): Iterable<BudgetRow> {
		return this.#rows.values();
	}

	namespaces(): readonly string[] {
		return [...new Set([...this.#rows.values()].map(({ namespace }) => namespace))].toSorted();
	}

	shown(view: BudgetView, now: number): readonly string[] {
		const by = `${view.sort} ${view.isReversed}`;
		if (by !== this.#orderedBy || now - this.#orderedAt >= orderEveryMs) {
			this.#order = this.#sorted(view);
			this.#orderedBy = by;
			this.#orderedAt = now;
		}
		const placed = new Set(this.#order);
		const came = [...this.#rows.keys()].filter((key) => !placed.has(key));
		return [...this.#order.filter((key) => this.#rows.has(key)), ...came].filter((key) => isShown(view, key));
	}

	#sorted({ sort, isReversed }: BudgetView): readonly string[] {
		const entries = [...this.#rows].map(([key, row]) => ({ key, value: valueOf(row, sort) }));
		const order = entries.toSorted((a, b) => a.value - b.value || (a.key < b.key ? -1 : 1)).map(({ key }) => key);
		return isReversed ? order.toReversed() : order;
	}
}

/** Such a budget blocks nothing. */
export function hasNoPods({ healthy, expected }: BudgetRow): boolean {
	return expected === 0 && healthy === 0;
}

/** Unknown sorts before 0. By ALLOWED, suspended budgets and budgets without pods sort last. */
function valueOf(row: BudgetRow, sort: SortColumn): number {
	const { allowed, healthy, expected, suspended } = row;
	switch (sort) {
		case "ALLOWED":
			if (suspended) return Number.MAX_SAFE_INTEGER;
			return hasNoPods(row) ? Number.MAX_SAFE_INTEGER - 1 : (allowed ?? -1);
		case "HEALTHY":
			return healthy ?? -1;
		case "EXPECTED":
			return expected ?? -1;
		case "BUDGET":
			return 0;
	}
}
