import { describe, expect, test } from "vitest";
import { historyOfAll, mergedHistory } from "../../../plugin/fleet/healthy-history.ts";
import type { BudgetHistory } from "../../../proto/agent-cluster.ts";

const budget = { namespace: "shop", name: "db" };
const told = (lastMinute: number, ...healthy: readonly (number | undefined)[]): BudgetHistory => ({
	budget,
	lastAt: lastMinute * 60,
	everySeconds: 60,
	healthy,
});

describe("mergedHistory()", () => {
	test.each([
		["what a later agent does not know yet, an earlier one saw", told(5, 3, 3, 2), told(6, 1), told(6, 3, 3, 2, 1)],
		["what nobody saw stays unknown", told(5, 3), told(8, 1), told(8, 3, undefined, undefined, 1)],
		["what is told counts where both saw", told(5, 3, 3), told(5, undefined, 1), told(5, 3, 1)],
		["an agent that has not looked yet takes nothing away", told(6, 3, 3), told(5, 2), told(6, 2, 3)],
		["a clock that was set back begins anew", told(9, 3, 3), told(5, 2), told(5, 2)],
		["the agent of the minute before has all that it told", told(5, 3, 3, 2), told(6, 3, 3, 2, 1), told(6, 3, 3, 2, 1)],
		[
			"one that began later, and did not look twice",
			told(5, 3, 3, 2),
			told(6, 2, undefined),
			told(6, 3, 3, 2, undefined),
		],
		["the first", undefined, told(5, 2, undefined), told(5, 2, undefined)],
	])("%s", (_, before, next, merged) => {
		expect(mergedHistory(before, next)).toEqual(merged);
	});

	test("keeps an hour", () => {
		const hour = Array.from({ length: 60 }, () => 3);
		expect(mergedHistory(told(60, ...hour), told(62, 2)).healthy).toEqual([...hour.slice(2), undefined, 2]);
	});
});

describe("historyOfAll()", () => {
	const sums = (...members: readonly (BudgetHistory | undefined)[]) => historyOfAll(members)?.healthy;

	test("adds up what all members saw at the same minute", () => {
		expect(historyOfAll([told(5, 1, 2, 3), told(5, 4, 4, 4)])).toEqual({
			lastAt: 300,
			everySeconds: 60,
			healthy: [5, 6, 7],
		});
	});

	test("knows nothing of a minute that one of them did not see", () => {
		expect(sums(told(5, 1, undefined, 3), told(5, 4, 4))).toEqual([7]);
		expect(sums(told(5, 1, undefined, 3, 3), told(5, 4, 4, undefined, 4))).toEqual([5, undefined, undefined, 7]);
	});

	test("waits a minute for the one who tells later, and says then that the rest is not known", () => {
		expect(historyOfAll([told(6, 1, 1), told(5, 4, 4)])).toMatchObject({ lastAt: 300, healthy: [5] });
		expect(historyOfAll([told(8, 1, 1, 1, 1), told(5, 4, 4)])).toMatchObject({
			lastAt: 420,
			healthy: [5, undefined, undefined],
		});
	});

	test("is none where a member keeps none, or looks at another pace", () => {
		expect(sums(told(5, 1), undefined)).toBeUndefined();
		expect(sums(told(5, 1), { ...told(5, 1), everySeconds: 30 })).toBeUndefined();
		expect(sums()).toBeUndefined();
	});
});
