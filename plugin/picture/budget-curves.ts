// How each budget stood over time: healthy pods against what it needs, wherever the run counted them.
import { numberOf, type RecordedEvent, textOf } from "./recorded-event.ts";

export interface BudgetCurve {
	/** NAMESPACE/NAME */
	readonly budget: string;
	/** In their order; each holds until the next, the last until the end of the record. */
	readonly points: readonly BudgetPoint[];
	readonly to: number;
	/** Grants of this run under it. */
	readonly evictions: readonly number[];
}

export interface BudgetPoint {
	readonly at: number;
	readonly healthy: number;
	/** None while it is suspended. */
	readonly need: number | undefined;
	readonly expected: number | undefined;
}

interface OpenCurve {
	readonly points: BudgetPoint[];
	readonly evictions: number[];
}

export class BudgetCurves {
	readonly #curves = new Map<string, OpenCurve>();

	see({ type, at, fields }: RecordedEvent): void {
		if (type === "budget.changed" || type === "pod.waiting") this.#count(at, fields);
		if (type !== "pod.evicting" || !Array.isArray(fields["budgets"])) return;
		for (const budget of fields["budgets"]) if (typeof budget === "string") this.#curve(budget).evictions.push(at);
	}

	/** Those that were counted at least once. */
	curves(to: number): readonly BudgetCurve[] {
		return [...this.#curves]
			.filter(([, { points }]) => points.length > 0)
			.map(([budget, curve]) => ({ budget, to, ...curve }));
	}

	#count(at: number, fields: RecordedEvent["fields"]): void {
		const budget = textOf(fields["budget"]);
		const healthy = numberOf(fields["healthy"]);
		if (budget === undefined || healthy === undefined) return;
		const { points } = this.#curve(budget);
		const point = { at, healthy, need: numberOf(fields["need"]), expected: numberOf(fields["expected"]) };
		const last = points.at(-1);
		const isSame = last && last.healthy === healthy && last.need === point.need && last.expected === point.expected;
		if (!isSame) points.push(point);
	}

	#curve(budget: string): OpenCurve {
		const known = this.#curves.get(budget) ?? { points: [], evictions: [] };
		this.#curves.set(budget, known);
		return known;
	}
}
