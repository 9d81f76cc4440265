import { expect, test } from "vitest";
import { changeOf } from "./churn.ts";

test("changes go round the clusters, then the pods; the next round takes each one back", () => {
	const of = (number: number) => Object.values(changeOf(number, { clusters: 2, pods: 2 }));
	expect(Array.from({ length: 9 }, (_, number) => of(number))).toEqual([
		[0, 0, false],
		[1, 0, false],
		[0, 1, false],
		[1, 1, false],
		[0, 0, true],
		[1, 0, true],
		[0, 1, true],
		[1, 1, true],
		[0, 0, false],
	]);
});
