// The results of the schedules of one scenario.
import type { StrategyCounts } from "./job.ts";
import { nothingSpent, type Spent } from "./spending.ts";

export interface ScenarioSum extends Spent {
	steps: number;
	evictions: number;
	pods: number;
	strategies: StrategyCounts;
}

export function emptySum(): ScenarioSum {
	return { ...nothingSpent(), steps: 0, evictions: 0, pods: 0, strategies: {} };
}
