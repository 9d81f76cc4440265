import { expect, test } from "vitest";
import { Recoveries } from "../../../plugin/picture/recoveries.ts";

type Step = readonly [type: string, fields: Readonly<Record<string, unknown>>];

const count = (healthy: number, budget = "shop/db"): Step => ["budget.changed", { budget, healthy, expected: 6 }];
const taken = (pod: string, budgets = ["shop/db"]): Step => ["pod.evicting", { context: "eu", pod, budgets }];
const gone = (pod: string): Step => ["pod.evicted", { context: "eu", pod }];

/** The steps happen at the times 1, 2 and so on. */
function replacedAt(pod: string, ...steps: readonly Step[]): number | undefined {
	const recoveries = new Recoveries();
	for (const [index, [type, fields]] of steps.entries()) recoveries.see({ type, at: index + 1, fields });
	return recoveries.replacedAt(`eu ${pod} `);
}

const watched = (healthy: number, own: number): Step => {
	const usedBy = Array.from({ length: own }, () => ({ own: true }));
	return ["budget.changed", { budget: "shop/db", healthy, usedBy, expected: 6 }];
};

const cases: readonly (readonly [name: string, at: number | undefined, steps: readonly Step[]])[] = [
	["the first count with as many as before", 5, [count(6), taken("a"), gone("a"), count(5), count(6)]],
	[
		"the first count with as many as before its grant, which a count may have seen before its eviction was told",
		7,
		[count(6), watched(5, 1), taken("a"), gone("a"), watched(5, 0), count(5), count(6)],
	],
	["never, where nobody counted again", undefined, [count(6), taken("a"), gone("a")]],
	["not before it is gone", 5, [count(6), taken("a"), count(6), gone("a"), count(6)]],
	["where nobody had counted before, nothing can be said", undefined, [taken("a"), gone("a"), count(6), count(6)]],
	[
		"as long as others of the run are missing",
		7,
		[count(6), taken("a"), gone("a"), count(5), taken("b"), gone("b"), count(6)],
	],
	["as many as are expected, where fewer are by now", 4, [count(7), taken("a"), gone("a"), count(6)]],
	[
		"under each of its budgets",
		6,
		[count(6), count(3, "shop/all"), taken("a", ["shop/db", "shop/all"]), gone("a"), count(6), count(3, "shop/all")],
	],
	[
		"never, where its end was not seen",
		undefined,
		[count(6), taken("a"), ["pod.failed", { context: "eu", pod: "a" }], count(6)],
	],
];

test.each(cases)("a pod is replaced at %s", (_, at, steps) => {
	expect(replacedAt("a", ...steps)).toBe(at);
});

test("a try that came to nothing is not waited for", () => {
	const tried: Step = ["pod.retrying", { context: "eu", pod: "b" }];
	expect(replacedAt("a", count(6), taken("b"), tried, taken("a"), gone("a"), count(6))).toBe(6);
});
