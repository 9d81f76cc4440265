// Computes how many pods of a budget were healthy across all members in the last hour, from the samples that each member's agents keep. A
// moment counts only if every member has a sample of it.
import type { BudgetHistory } from "../../proto/agent-cluster.ts";
import { mostSamples } from "../../proto/wire-watch.ts";

export type HealthyHistory = Pick<BudgetHistory, "lastAt" | "everySeconds" | "healthy">;

/** By budget. Computed only for the budget that a user opens, not for 1,000 budgets every minute. */
export type HealthyHistories = Pick<ReadonlyMap<string, HealthyHistory>, "get">;

/** Merges the samples of two agents of one member, because each agent keeps its own. */
export function mergedHistory(before: BudgetHistory | undefined, told: BudgetHistory): BudgetHistory {
	// Only the new samples count if there are no others, if the interval differs, or if the clock was set back.
	if (before?.everySeconds !== told.everySeconds || before.lastAt > told.lastAt + told.everySeconds) return told;
	// Usually the agent is the same as a minute ago. This avoids comparing the samples of 1,000 budgets.
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

/**
 * Returns the sums over all members. Undefined if a member keeps no samples, if their intervals differ, or if no moment has samples of all.
 */
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
	// Members do not take their samples in the same second, so the newest time may lack some of them.
	const lastAt = sum(newest) === undefined ? newest - everySeconds : newest;
	const healthy = fromFirstKnown(timesUntil(lastAt, everySeconds).map(sum));
	return healthy.length === 0 ? undefined : { lastAt, everySeconds, healthy };
}

/** Returns the times of the samples, oldest first. */
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
