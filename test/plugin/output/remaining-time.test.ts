import { expect, test } from "vitest";
import { RemainingTime } from "../../../plugin/output/remaining-time.ts";

const planned = (etaSeconds: readonly [number, number | null]): RemainingTime => {
	const remaining = new RemainingTime();
	remaining.planned({ pods: 10, etaSeconds }, 1_000);
	return remaining;
};

test("nothing is known without a plan", () => {
	expect(new RemainingTime().after({ podsDone: 1, podsTotal: 2 }, 0)).toBeUndefined();
});

test("is what was planned for the pods that are left, also those of nodes whose turn has not come", () => {
	expect(planned([40, 90]).after({ podsDone: 0, podsTotal: 4 }, 1_000)).toEqual([40, 90]);
	expect(planned([40, 90]).after({ podsDone: 5, podsTotal: 6 }, 11_000)).toEqual([20, 45]);
	expect(planned([40, 90]).after({ podsDone: 10, podsTotal: 10 }, 90_000)).toEqual([0, 0]);
});

test("is more where it goes slower than planned", () => {
	expect(planned([40, 90]).after({ podsDone: 2, podsTotal: 10 }, 61_000)).toEqual([32, 240]);
});

test("has no end where somebody else has to do something first", () => {
	expect(planned([40, null]).after({ podsDone: 5, podsTotal: 10 }, 11_000)).toEqual([20, null]);
});

test("counts pods that came after the plan", () => {
	expect(planned([40, 80]).after({ podsDone: 10, podsTotal: 20 }, 1_000)).toEqual([20, 40]);
});
