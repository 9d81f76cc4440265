// Which measurements a run makes, and how often each of them runs.
import { big } from "./big.ts";
import { budgetLists } from "./budget-lists.ts";
import { contention } from "./contention.ts";
import { crowd, idleMemory } from "./crowd.ts";
import { decisions } from "./decisions.ts";
import { drains } from "./drains.ts";
import { links } from "./links.ts";
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
	links,
	big,
];

/** By the names of measurements or of ratios; where none is named, all but those that must be. Throws where a name is neither. */
export function choose(names: readonly string[]): readonly Measurement[] {
	if (names.length === 0) return measurements.filter(({ onlyByName = false }) => !onlyByName);
	for (const name of names) {
		if (measurements.some((each) => each.name === name || each.ratios.includes(name))) continue;
		const known = measurements.flatMap((each) => [each.name, ...each.ratios]);
		throw new Error(`Nothing is called "${name}": there are ${known.join(", ")}`);
	}
	return measurements.filter(({ name, ratios }) => names.includes(name) || ratios.some((each) => names.includes(each)));
}
