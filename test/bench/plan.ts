// Lists the measurements and chooses those of a run.
import { big } from "./big.ts";
import { budgetLists } from "./budget-lists.ts";
import { contention } from "./contention.ts";
import { crowd, idleMemory } from "./crowd.ts";
import { decisions } from "./decisions.ts";
import { drains } from "./drains.ts";
import { estimates } from "./estimates.ts";
import { links } from "./links.ts";
import { manyBudgets } from "./many-budgets.ts";
import type { Measurement } from "./measurement.ts";
import { rates } from "./rates.ts";
import { replicaSets } from "./replica-sets.ts";
import { rounds } from "./rounds.ts";
import { scale } from "./scale.ts";
import { start } from "./start.ts";
import { bigReport } from "./ui/big-report.ts";
import { budgetCrowd } from "./ui/budget-crowd.ts";
import { completion } from "./ui/completion.ts";
import { screenStart } from "./ui/screen-start.ts";
import { wanDrain, wanRate } from "./wan.ts";
import { writes } from "./writes.ts";

export const measurements: readonly Measurement[] = [
	idleMemory,
	decisions,
	start,
	drains,
	estimates,
	rates,
	contention,
	writes,
	rounds,
	wanRate,
	wanDrain,
	budgetLists,
	crowd,
	replicaSets,
	scale,
	manyBudgets,
	links,
	big,
	screenStart,
	completion,
	bigReport,
	budgetCrowd,
];

/**
 * Chooses measurements by the names of measurements, groups or ratios, by default all that are not onlyByName. Throws for an unknown name.
 */
export function choose(names: readonly string[]): readonly Measurement[] {
	if (names.length === 0) return measurements.filter(({ onlyByName = false }) => !onlyByName);
	const namesOf = ({ name, group, ratios }: Measurement): readonly string[] => [
		...(group === undefined ? [] : [group]),
		name,
		...ratios,
	];
	for (const name of names) {
		if (measurements.some((each) => namesOf(each).includes(name))) continue;
		const known = [...new Set(measurements.flatMap(namesOf))];
		throw new Error(`Nothing is called "${name}": there are ${known.join(", ")}`);
	}
	return measurements.filter((each) => namesOf(each).some((name) => names.includes(name)));
}
