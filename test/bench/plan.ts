// Which measurements a run makes, and how often each of them runs.
import { budgetLists } from "./budget-lists.ts";
import { contention } from "./contention.ts";
import { crowd, idleMemory } from "./crowd.ts";
import { decisions } from "./decisions.ts";
import { drains } from "./drains.ts";
import type { Measurement } from "./measurement.ts";
import { rates } from "./rates.ts";
import { rounds } from "./rounds.ts";
import { start } from "./start.ts";
import { wanDrain, wanRate } from "./wan.ts";
import { writes } from "./writes.ts";

export const measurements: readonly Measurement[] = [
	idleMemory,
	decisions,
	start,
	drains,
	rates,
	contention,
	writes,
	rounds,
	wanRate,
	wanDrain,
	budgetLists,
	crowd,
];

/** By the names of measurements or of ratios; all where none is named. Throws where a name is neither. */
export function choose(names: readonly string[]): readonly Measurement[] {
	if (names.length === 0) return measurements;
	for (const name of names) {
		if (measurements.some((each) => each.name === name || each.ratios.includes(name))) continue;
		const known = measurements.flatMap((each) => [each.name, ...each.ratios]);
		throw new Error(`Nothing is called "${name}": there are ${known.join(", ")}`);
	}
	return measurements.filter(({ name, ratios }) => names.includes(name) || ratios.some((each) => names.includes(each)));
}
