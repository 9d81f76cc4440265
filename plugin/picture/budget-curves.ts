// Builds the curve of each budget over time: its healthy pods and what it needs, at each count. An eviction of this run immediately lowers
// the last count by one pod. There is no line while the counts are unknown.
import { isRecord } from "../../disruption/record.ts";
import { listOf, numberOf, type RecordedEvent, textOf } from "./recorded-event.ts";
import { podKey } from "./recoveries.ts";

export interface BudgetCurve {
	/** NAMESPACE/NAME */
	readonly budget: string;
	/** In order. Each holds until the next, and the last until `to`. */
	readonly points: readonly BudgetPoint[];
	/** The end of the record. */
	readonly to: number;
	/** When this run sent evictions under this budget. */
	readonly evictions: readonly number[];
}

export interface BudgetPoint {
	readonly at: number;
	readonly healthy: number | undefined;
	/** Undefined if the budget is suspended, or if its need is unknown. */
	readonly need: number | undefined;
	readonly expected: number | undefined;
}

interface OpenPoint extends BudgetPoint {
	/** Whether the point comes from an eviction of this run, or from taking one back, and not from a count. */
	readonly isTaken: boolean;
}

interface OpenCurve {
	readonly points: OpenPoint[];
	readonly evictions: number[];
	/** Pods that this run is evicting, and whether each has lowered the curve since the last count. */
	readonly taken: Map<string, boolean>;
	/** How many pods of this run the last count already subtracted before their evictions were reported. */
	foretold: number;
	/**
	 * The last count of a round, minus the pods evicted since. Counts of the agents' watch are not used, because they may be a second behind.
	 */
	granted: number | undefined;
}

/**
 * If no count follows an eviction within this time, a replacement may be up, so the curve has a gap from the eviction on. The agents' watch
 * counts within a second, but records of version 0.1 contain only the counts of rounds.
 */
const goodForMs = 2_000;

export class BudgetCurves {
	readonly #curves = new Map<string, OpenCurve>();

	see({ type, at, fields }: RecordedEvent): void {
		switch (type) {
			case "budget.changed":
				this.#count(at, fields);
				// With `usedBy`, the count comes from the agents' watch.
				if (fields["usedBy"] === undefined) this.#grantFrom(fields);
				return;
			case "budget.unknown":
				return this.#lose(at, textOf(fields["budget"]));
			case "pod.evicting":
				if (textOf(fields["dryRun"]) !== undefined) return;
				for (const budget of listOf(fields["budgets"])) {
					if (typeof budget === "string") this.#take(budget, at, podKey(fields));
				}
				return;
			// The eviction failed, or this run did not see how it ended.
			case "pod.waiting":
				this.#giveBack(at, podKey(fields));
				return this.#count(at, fields);
			case "pod.retrying":
			case "pod.stopped":
			case "pod.failed":
			case "pod.gone":
				if (fields["accepted"] !== true) this.#giveBack(at, podKey(fields));
				return;
			// From here on, counts may include the pod's replacement.
			case "pod.evicted":
				for (const { taken } of this.#curves.values()) taken.delete(podKey(fields));
		}
	}

	/** Returns the curves of budgets that were counted at least once. */
	curves(to: number): readonly BudgetCurve[] {
		return [...this.#curves]
			.filter(([, { points }]) => points.length > 0)
			.map(([budget, { points, evictions }]) => ({ budget, points: withGaps(points, to), evictions, to }));
	}

	#count(at: number, fields: RecordedEvent["fields"]): void {
		const budget = textOf(fields["budget"]);
		const healthy = numberOf(fields["healthy"]);
		if (budget === undefined || healthy === undefined) return;
		const curve = this.#curve(budget);
		curve.foretold = Math.max(0, ownOf(fields) - curve.taken.size);
		for (const key of curve.taken.keys()) curve.taken.set(key, false);
		const { points } = curve;
		const point = {
			at,
			healthy,
			need: numberOf(fields["need"]),
			expected: numberOf(fields["expected"]),
			isTaken: false,
		};
		const last = points.at(-1);
		const isSame = last && last.healthy === healthy && last.need === point.need && last.expected === point.expected;
		if (!isSame || last.isTaken) points.push(point);
	}

	/** Takes over a round's count. The count in a wait is not used, because it already has the grants of its round subtracted. */
	#grantFrom(fields: RecordedEvent["fields"]): void {
		const budget = textOf(fields["budget"]);
		const healthy = numberOf(fields["healthy"]);
		if (budget !== undefined && healthy !== undefined) this.#curve(budget).granted = healthy;
	}

	#lose(at: number, budget: string | undefined): void {
		const curve = budget === undefined ? undefined : this.#curves.get(budget);
		if (curve && curve.points.length > 0) curve.points.push(unknownAt(at));
	}

	#take(budget: string, at: number, key: string): void {
		const curve = this.#curve(budget);
		curve.evictions.push(at);
		// This is another try for the same pod.
		if (curve.taken.has(key)) return;
		const isForetold = curve.foretold > 0;
		curve.taken.set(key, !isForetold);
		if (isForetold) curve.foretold -= 1;
		else change(curve, at, -1);
	}

	#giveBack(at: number, key: string): void {
		for (const curve of this.#curves.values()) {
			if (curve.taken.get(key) === true) change(curve, at, 1);
			curve.taken.delete(key);
		}
	}

	#curve(budget: string): OpenCurve {
		const known = this.#curves.get(budget) ?? {
			points: [],
			evictions: [],
			taken: new Map<string, boolean>(),
			foretold: 0,
			granted: undefined,
		};
		this.#curves.set(budget, known);
		return known;
	}
}

/** Applies an eviction of this run, or takes one back. A budget without a count has no number to change. */
function change(curve: OpenCurve, at: number, by: number): void {
	const last = curve.points.at(-1);
	const before = curve.granted ?? last?.healthy;
	if (!last || before === undefined) return;
	const healthy = Math.max(0, before + by);
	if (curve.granted !== undefined) curve.granted = healthy;
	const { need, expected } = curve.points.findLast((point) => point.healthy !== undefined) ?? last;
	curve.points.push({ at, healthy, need, expected, isTaken: true });
}

/**
 * Returns how many of the pods counted as down were granted to this run. A round counts before it grants anything, so its own grants are
 * not among them.
 */
function ownOf(fields: RecordedEvent["fields"]): number {
	return listOf(fields["usedBy"]).filter((used) => isRecord(used) && used["own"] === true).length;
}

function unknownAt(at: number): OpenPoint {
	return { at, healthy: undefined, need: undefined, expected: undefined, isTaken: false };
}

function withGaps(points: readonly OpenPoint[], to: number): readonly BudgetPoint[] {
	return points.flatMap((point, index) => {
		const until = points[index + 1]?.at ?? to;
		return point.isTaken && until - point.at > goodForMs ? [point, unknownAt(point.at)] : [point];
	});
}
