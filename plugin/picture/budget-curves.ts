// How each budget stood over time: healthy pods against what it needs, wherever the run counted them.
import { numberOf, type RecordedEvent, textOf } from "./recorded-event.ts";

export interface BudgetCurve {
	/** NAMESPACE/NAME */
	readonly budget: string;
	/** In their order; each holds until the next, the last until `to`. */
	readonly points: readonly BudgetPoint[];
	/** The end of the record; before it, the first eviction after which nobody counted any more. */
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
	/** Of the first eviction since the last count, whether that said something new or not. */
	uncountedSince: number | undefined;
}

export class BudgetCurves {
	readonly #curves = new Map<string, OpenCurve>();

	see({ type, at, fields }: RecordedEvent): void {
		if (type === "budget.changed" || type === "pod.waiting") this.#count(at, fields);
		if (type !== "pod.evicting" || !Array.isArray(fields["budgets"])) return;
		for (const budget of fields["budgets"]) {
			if (typeof budget !== "string") continue;
			const curve = this.#curve(budget);
			curve.evictions.push(at);
			curve.uncountedSince ??= at;
		}
	}

	/** Those that were counted at least once. */
	curves(to: number): readonly BudgetCurve[] {
		return [...this.#curves]
			.filter(([, { points }]) => points.length > 0)
			.map(([budget, { points, evictions, uncountedSince }]) => ({
				budget,
				points,
				evictions,
				to: uncountedSince ?? to,
			}));
	}

	#count(at: number, fields: RecordedEvent["fields"]): void {
		const budget = textOf(fields["budget"]);
		const healthy = numberOf(fields["healthy"]);
		if (budget === undefined || healthy === undefined) return;
		const curve = this.#curve(budget);
		curve.uncountedSince = undefined;
		const { points } = curve;
		const point = { at, healthy, need: numberOf(fields["need"]), expected: numberOf(fields["expected"]) };
		const last = points.at(-1);
		const isSame = last && last.healthy === healthy && last.need === point.need && last.expected === point.expected;
		if (!isSame) points.push(point);
	}

	#curve(budget: string): OpenCurve {
		const known = this.#curves.get(budget) ?? { points: [], evictions: [], uncountedSince: undefined };
		this.#curves.set(budget, known);
		return known;
	}
}
