// Keeps the rows of the Leases screen and their order: unreadable, most waiting rounds, held, most granted pods. The order changes at most
// every five seconds, so that rows do not jump.
import type { LeaseRow } from "../output/lease-lines.ts";

export interface LeaseChange {
	readonly changed: readonly LeaseRow[];
	readonly gone: readonly LeaseRow[];
	/** For example, why the context does not answer. */
	readonly problem?: string;
}

const orderEveryMs = 5_000;
const mostProblems = 50;

export class LeaseBoard {
	readonly #rows = new Map<string, LeaseRow>();
	#order: readonly string[] = [];
	#orderedAt = Number.NEGATIVE_INFINITY;
	/** Newest first. */
	readonly problems: { readonly at: number; readonly text: string }[] = [];
	/** Undefined until the first call of see(). */
	knownSince: number | undefined;

	/** `at`: ms since the epoch. */
	see({ changed, gone, problem }: LeaseChange, at: number): void {
		if (this.knownSince === undefined) this.#orderedAt = Number.NEGATIVE_INFINITY;
		this.knownSince ??= at;
		for (const row of changed) this.#rows.set(keyOf(row), row);
		for (const row of gone) this.#rows.delete(keyOf(row));
		if (problem === undefined) return;
		this.problems.unshift({ at, text: problem });
		if (this.problems.length > mostProblems) this.problems.pop();
	}

	find(key: string): LeaseRow | undefined {
		return this.#rows.get(key);
	}

	all(): readonly LeaseRow[] {
		return [...this.#rows.values()];
	}

	keys(now: number): readonly string[] {
		if (now - this.#orderedAt >= orderEveryMs) {
			this.#orderedAt = now;
			this.#order = [...this.#rows].toSorted(([, a], [, b]) => busier(a, b)).map(([key]) => key);
		}
		const placed = new Set(this.#order);
		const came = [...this.#rows.keys()].filter((key) => !placed.has(key));
		return [...this.#order.filter((key) => this.#rows.has(key)), ...came];
	}
}

function keyOf({ context, lease }: LeaseRow): string {
	return `${context} ${lease.uid}`;
}

/** Unreadable Leases come first, because nothing is granted under them. */
function busier(a: LeaseRow, b: LeaseRow): number {
	const ranks = [a, b].map(({ lease: { problem, waiting = 0, holding, reserved } }) => [
		problem === undefined ? 0 : 1,
		waiting,
		holding ? 1 : 0,
		reserved,
	]);
	const [first = [], second = []] = ranks;
	for (const [index, rank] of first.entries()) {
		const difference = (second[index] ?? 0) - rank;
		if (difference !== 0) return difference;
	}
	return leaseName(a) < leaseName(b) ? -1 : 1;
}

/** The NAMESPACE/NAME of the budget, or the Lease's own name if it does not name its budget. */
export function leaseName({ lease: { budget, name } }: LeaseRow): string {
	return budget ? `${budget.namespace}/${budget.name}` : name;
}
