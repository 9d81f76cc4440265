import { describe, expect, test } from "vitest";
import type { BudgetRow, CountsOfMember, PodOfBudget } from "../../../plugin/fleet/budget-table.ts";
import { missingPods } from "../../../plugin/fleet/missing-pods.ts";

const pods = (cluster: string, number: number): readonly PodOfBudget[] =>
	Array.from({ length: number }, (_, at) => ({ cluster, namespace: "shop", name: `db-${at}`, why: "NotReady" }));

const counted = (
	eu: CountsOfMember,
	usedBy: readonly PodOfBudget[] = [],
): Pick<BudgetRow, "perCluster" | "usedBy"> => ({
	perCluster: new Map([
		["eu", eu],
		["us", { healthy: 2, expected: 2 }],
	]),
	usedBy,
});

describe("missingPods()", () => {
	const rows = [
		{ name: "none where all are healthy", of: counted({ healthy: 4, expected: 4 }), eu: 0 },
		{ name: "one that was not made again", of: counted({ healthy: 3, expected: 4 }), eu: 1 },
		{
			name: "none where the pod is there and not ready",
			of: counted({ healthy: 3, expected: 4 }, pods("eu", 1)),
			eu: 0,
		},
		{ name: "what is left beside such pods", of: counted({ healthy: 1, expected: 4 }, pods("eu", 1)), eu: 2 },
		{
			name: "pods of another cluster are not in its place",
			of: counted({ healthy: 3, expected: 4 }, pods("us", 1)),
			eu: 1,
		},
		{ name: "none where a replacement starts beside", of: counted({ healthy: 3, expected: 4 }, pods("eu", 2)), eu: 0 },
		{ name: "none where there are more than wanted", of: counted({ healthy: 5, expected: 4 }), eu: 0 },
		{ name: "unknown without a count", of: counted({ healthy: undefined, expected: undefined }), eu: 0 },
		{ name: "unknown where nobody says how many", of: counted({ healthy: 3, expected: undefined }), eu: 0 },
		{ name: "unknown where not all were told", of: counted({ healthy: 0, expected: 40 }, pods("eu", 20)), eu: 0 },
	];
	for (const { name, of, eu } of rows) {
		test(name, () => {
			expect(missingPods(of)).toEqual(eu === 0 ? [] : [{ cluster: "eu", pods: eu }]);
		});
	}
});
