// How many pods of a budget were healthy over all members in the last hour, of what each member's agents have kept. A moment counts
// only where every member has looked: what one of them does not know is not made up.
import type { BudgetHistory } from "../../proto/agent-cluster.ts";
import { mostSamples } from "../../proto/wire-watch.ts";

export type HealthyHistory = Pick<BudgetHistory, "lastAt" | "everySeconds" | "healthy">;

/** By budget: added up when somebody looks at one, not of 1,000 every minute. */
export type HealthyHistories = Pick<ReadonlyMap<string, HealthyHistory>, "get">;

/** What one agent tells, and another one of the same member had told: each keeps its own. */
export function mergedHistory(before: BudgetHistory | undefined, told: BudgetHistory): BudgetHistory {
	// A clock that was set back: nobody knows any more when that was.
	if (before?.everySeconds !== told.everySeconds || before.lastAt > told.lastAt + told.everySeconds) return told;
	// Nearly always the agent of the minute before: of 1,000 budgets none is looked at minute by minute.
	if (tellsAll(told, before)) return told;
	const lastAt = Math.max(told.lastAt, before.lastAt);
	const healthy = timesUntil(lastAt, told.everySeconds).map((at) => sampleAt(told, at) ?? sampleAt(before, at));
	return { ...told, lastAt, healthy: fromFirstKnown(healthy) };
}

function tellsAll(told: HealthyHistory, before: HealthyHistory): boolean {
	if (before.lastAt > told.lastAt || told.healthy.includes(undefined)) return false;
	return told.healthy.length >= mostSamples || firstAt(told) <= firstAt(before);
}

function firstAt({ lastAt, everySeconds, healthy }: HealthyHistory): number {
	return lastAt - (healthy.length - 1) * everySeconds;
}

/** Undefined where one of them keeps none, or nothing is known by all. */
export function historyOfAll(members: readonly (HealthyHistory | undefined)[]): HealthyHistory | undefined {
	const known = members.filter((each) => each !== undefined);
	const [first] = known;
	if (!first || known.length < members.length) return undefined;
	const { everySeconds } = first;
	if (known.some((each) => each.everySeconds !== everySeconds)) return undefined;
	const newest = Math.max(...known.map(({ lastAt }) => lastAt));
	const sum = (at: number): number | undefined => {
		let pods = 0;
		for (const each of known) {
			const sample = sampleAt(each, at);
			if (sample === undefined) return undefined;
			pods += sample;
		}
		return pods;
	};
	// They do not tell in the same second.
	const lastAt = sum(newest) === undefined ? newest - everySeconds : newest;
	const healthy = fromFirstKnown(timesUntil(lastAt, everySeconds).map(sum));
	return healthy.length === 0 ? undefined : { lastAt, everySeconds, healthy };
}

/** The oldest first. */
function timesUntil(lastAt: number, everySeconds: number): readonly number[] {
	return Array.from({ length: mostSamples }, (_, at) => lastAt - (mostSamples - 1 - at) * everySeconds);
}

function sampleAt({ lastAt, everySeconds, healthy }: HealthyHistory, at: number): number | undefined {
	return healthy[healthy.length - 1 - (lastAt - at) / everySeconds];
}

function fromFirstKnown(healthy: readonly (number | undefined)[]): readonly (number | undefined)[] {
	const first = healthy.findIndex((pods) => pods !== undefined);
	return first < 0 ? [] : healthy.slice(first);
}
