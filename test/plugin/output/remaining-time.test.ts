import { expect, test } from "vitest";
import { RemainingTime } from "../../../plugin/output/remaining-time.ts";

const planned = (etaSeconds: readonly [number, number | null]): RemainingTime => {
	const remaining = new RemainingTime();
	remaining.planned({ pods: 10, etaSeconds }, 1_000);
	return remaining;
};
const after = (seconds: number, podsDone: number, podsTotal = 10) =>
	planned([30, 120]).after({ podsDone, podsTotal }, 1_000 + seconds * 1_000) ?? [Number.NaN, Number.NaN];

test("nothing is known without a plan", () => {
	expect(new RemainingTime().after({ podsDone: 1, podsTotal: 2 }, 0)).toBeUndefined();
});

test("begins as it was planned, and gets less as time passes", () => {
	expect(after(0, 0)).toEqual([30, 120]);
	expect(after(30, 0)).toEqual([15, 60]);
	expect(after(0, 10)).toEqual([0, 0]);
});

test("becomes more where nothing gets on, and never ends before the run does", () => {
	const [soon, late] = [after(60, 0), after(600, 0)];
	expect(soon[0]).toBeGreaterThan(0);
	expect(late[0]).toBeGreaterThan(soon[0] ?? 0);
});

test("goes by the run's own pace, the more of its pods are done", () => {
	// 20 s per pod instead of the planned 6 s: 160 s are left.
	const slow = after(40, 2);
	expect(slow[1]).toBeGreaterThan(100);
	// After nine of ten pods, 20 s are left.
	const [atLeast, atMost] = after(180, 9);
	expect(atLeast).toBeLessThanOrEqual(20);
	expect(atMost).toBeGreaterThanOrEqual(20);
	// Faster than planned: less time is left.
	expect(after(5, 5)[1]).toBeLessThan(60);
});

test("the range is never wider than four times its lower end", () => {
	for (let done = 0; done < 10; done += 1) {
		for (const seconds of [0, 5, 50, 500]) {
			const [atLeast, atMost] = after(seconds, done);
			expect(atMost).toBeLessThanOrEqual(4 * Math.max(1, atLeast ?? 0) + 2);
		}
	}
});

test("has no end where somebody else has to do something first", () => {
	expect(planned([40, null]).after({ podsDone: 5, podsTotal: 10 }, 11_000)).toEqual([20, null]);
});

test("counts pods of nodes whose turn has not come, and those that came after the plan", () => {
	expect(after(0, 0, 4)).toEqual([30, 120]);
	expect(after(100, 10, 20)[1]).toBeGreaterThan(60);
});
