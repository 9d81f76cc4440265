// `npm run explore -- --long`: runs many schedules, and adds up the counts of all its runs. The counts stay valid while the sources of the
// schedules are the same (driven-hash.ts).
import { DrivenHash } from "./driven-hash.ts";
import { printSums, report, spend, sumOf } from "./explore-scenarios.ts";
import { countsFolder, readCounts, writeCounts } from "./saved-counts.ts";
import type { Scenario } from "./scenario.ts";
import type { ScenarioSum } from "./scenario-sum.ts";
import type { World } from "./world.ts";

/** The number of schedules of all runs together. */
const longTotal = 1_000_000;
/**
 * The least number of schedules for each scenario. A staged one (with `holdsBack`) has few states. In any other, a fault may show in one of
 * thousands of schedules.
 */
const stagedFloor = 500;
const freeFloor = 5_000;
const saveEveryMs = 15_000;

/** Continues where the last run stopped. `schedules` limits this run, `longTotal` all runs. Resolves to true if nothing was found. */
export async function exploreLong(
	scenarios: readonly Scenario<World>[],
	{ schedules, seed }: { readonly schedules: number | undefined; readonly seed: number },
): Promise<boolean> {
	const folder = countsFolder();
	const hash = new DrivenHash();
	const keys = new Map(scenarios.map((each) => [each.name, { scenario: each.name, seed, hash: hash.of(each) }]));
	const sums = new Map([...keys].map(([name, key]): [string, ScenarioSum] => [name, readCounts(folder, key)]));
	const floors = new Map(scenarios.map(({ name, holdsBack }) => [name, holdsBack ? stagedFloor : freeFloor]));
	const before = sumOf(sums, "schedules");
	console.log(`${before} schedules with seed ${seed} were counted before (${folder})`);
	const changed = new Set<string>();
	const save = (): void => {
		for (const name of changed) {
			const [key, sum] = [keys.get(name), sums.get(name)];
			if (key && sum) writeCounts(folder, key, sum);
		}
		changed.clear();
	};
	const stop = new AbortController();
	const onInterrupt = (): void => {
		console.error("stopping after the schedules that are under way; press Ctrl-C again to stop at once");
		stop.abort();
	};
	process.once("SIGINT", onInterrupt);
	let savedAt = performance.now();
	try {
		const failure = await spend(sums, {
			total: Math.max(Math.min(schedules ?? longTotal, longTotal - before), 0),
			floorOf: (name) => floors.get(name) ?? freeFloor,
			leastNew: 0,
			seed,
			stop: stop.signal,
			onResult: ({ scenario }) => {
				changed.add(scenario);
				if (performance.now() - savedAt < saveEveryMs) return;
				save();
				savedAt = performance.now();
			},
		});
		save();
		printSums(sums);
		const all = sumOf(sums, "schedules");
		const short = [...sums].filter(([name, sum]) => sum.schedules < (floors.get(name) ?? freeFloor)).length;
		console.log(`${all} schedules with seed ${seed}: ${before} from earlier runs, ${all - before} from this one`);
		if (short > 0) console.log(`${short} of ${sums.size} scenarios have had less than their least number so far`);
		return report(failure);
	} finally {
		process.off("SIGINT", onInterrupt);
	}
}
