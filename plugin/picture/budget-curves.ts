// How each budget stood over time: healthy pods against what it needs, wherever they were counted. An eviction of this run takes a pod off
// the last count at once. Where nobody counted, there is no line.
import { isRecord } from "../../disruption/record.ts";
import { listOf, numberOf, type RecordedEvent, textOf } from "./recorded-event.ts";
import { podKey } from "./recoveries.ts";

export interface BudgetCurve {
	/** NAMESPACE/NAME */
	readonly budget: string;
	/** In their order; each holds until the next, the last until `to`. */
	readonly points: readonly BudgetPoint[];
	/** The end of the record. */
	readonly to: number;
	/** Grants of this run under it. */
	readonly evictions: readonly number[];
}

export interface BudgetPoint {
	readonly at: number;
	/** None where nobody knows. */
	readonly healthy: number | undefined;
	/** None while it is suspended, and where nobody knows. */
	readonly need: number | undefined;
	readonly expected: number | undefined;
}

interface OpenPoint extends BudgetPoint {
	/** After an eviction of this run: nobody has counted yet. */
	readonly isTaken: boolean;
}

interface OpenCurve {
	readonly points: OpenPoint[];
	readonly evictions: number[];
	/** Pods that this run is evicting, and whether that was taken off since the last count. */
	readonly taken: Map<string, boolean>;
	/** Pods of this run that the last count had off already, and whose evictions were not told yet. */
	foretold: number;
	/**
	 * The last count of a round, without the pods that were evicted since: what an eviction is taken off. The agents' watch may be a
	 * second behind, and tell less because a replacement was not up yet, or more because a grant was not written yet.
	 */
	granted: number | undefined;
}

/**
 * A pod may be back after so long: without a count, the number after an eviction is good for no longer. The agents' watch counts within
 * a second; records of 0.1 have the counts of rounds alone.
 */
const goodForMs = 2_000;

export class BudgetCurves {
	readonly #curves = new Map<string, OpenCurve>();

	see({ type, at, fields }: RecordedEvent): void {
		switch (type) {
			case "budget.changed":
				this.#count(at, fields);
				// Of the agents' watch otherwise.
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
			// The eviction came to nothing, or its end was not seen.
			case "pod.waiting":
				this.#giveBack(at, podKey(fields));
				return this.#count(at, fields);
			case "pod.retrying":
			case "pod.stopped":
			case "pod.failed":
			case "pod.gone":
				if (fields["accepted"] !== true) this.#giveBack(at, podKey(fields));
				return;
			// From here on its replacement counts.
			case "pod.evicted":
				for (const { taken } of this.#curves.values()) taken.delete(podKey(fields));
		}
	}

	/** Those that were counted at least once. */
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

	/** What a wait tells has the grants of its round off already. */
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
		// The next try for the same pod.
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

/** By an eviction of this run. Of a budget that nobody has counted there is nothing to take off. */
function change(curve: OpenCurve, at: number, by: number): void {
	const last = curve.points.at(-1);
	const before = curve.granted ?? last?.healthy;
	if (!last || before === undefined) return;
	const healthy = Math.max(0, before + by);
	if (curve.granted !== undefined) curve.granted = healthy;
	const { need, expected } = curve.points.findLast((point) => point.healthy !== undefined) ?? last;
	curve.points.push({ at, healthy, need, expected, isTaken: true });
}

/** Of the pods that count as down: how many this run was granted. A round counts before it grants anything. */
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
