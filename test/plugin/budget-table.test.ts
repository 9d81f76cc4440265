import { describe, expect, test } from "vitest";
import type { Count } from "../../disruption/cluster.ts";
import { type BudgetOfMember, budgetRow, type CountOfMember, readSpecs } from "../../plugin/budget-table.ts";

const name = { namespace: "shop", name: "db" };
const selector = { matchLabels: { app: "db" } };

function count(cluster: string, healthy: number, expected: number | string): CountOfMember {
	const count: Count = {
		clusterId: `id-${cluster}`,
		clusterName: cluster,
		fleetHash: "",
		features: [],
		budgets: [],
		expected: typeof expected === "number" ? { kind: "known", pods: expected } : { kind: "unknown", reason: expected },
		healthy,
		candidates: [],
		unavailable: [],
	};
	return { cluster, count };
}

const budget = (cluster: string, spec: object): BudgetOfMember => ({ cluster, name, spec: { selector, ...spec } });

interface Row {
	readonly name: string;
	readonly budgets: readonly BudgetOfMember[];
	readonly counts: readonly CountOfMember[];
	readonly expected: object;
}

const rows: readonly Row[] = [
	{
		name: "sums over the members",
		budgets: [budget("eu", { maxUnavailable: 1 }), budget("us", { maxUnavailable: 1 })],
		counts: [count("eu", 3, 3), count("us", 3, 3)],
		expected: { allowed: 1, healthy: 6, need: 5, expected: 6, suspended: false, problem: undefined },
	},
	{
		name: "is used up, not negative",
		budgets: [budget("eu", { minAvailable: 3 })],
		counts: [count("eu", 1, 3)],
		expected: { allowed: 0, healthy: 1, need: 3 },
	},
	{
		name: "the highest bound of the members counts",
		budgets: [budget("eu", { minAvailable: 2 }), budget("us", { minAvailable: "50%" })],
		counts: [count("eu", 3, 3), count("us", 4, 4)],
		expected: { allowed: 3, need: 4, healthy: 7 },
	},
	{
		name: "no expected pods allow nothing",
		budgets: [budget("eu", { maxUnavailable: 1 })],
		counts: [count("eu", 0, 0)],
		expected: { allowed: 0, expected: 0 },
	},
	{
		name: "an unknown number of expected pods refuses a bound that needs it",
		budgets: [budget("eu", { maxUnavailable: 1 })],
		counts: [count("eu", 3, "the owner has no scale")],
		expected: {
			allowed: undefined,
			need: undefined,
			expected: undefined,
			healthy: 3,
			problem: "eu: the owner has no scale",
		},
	},
	{
		name: "an unknown number of expected pods is nothing to minAvailable as a number",
		budgets: [budget("eu", { minAvailable: 2 })],
		counts: [count("eu", 3, "the owner has no scale")],
		expected: { allowed: 1, need: 2, expected: undefined, problem: undefined },
	},
	{
		name: "a member without an answer makes all sums unknown",
		budgets: [budget("eu", { minAvailable: 2 })],
		counts: [count("eu", 3, 3), { cluster: "us", count: new Error("no answer") }],
		expected: { allowed: undefined, healthy: undefined, expected: undefined, problem: "us: no answer" },
	},
	{
		name: "suspended in all members is off",
		budgets: [budget("eu", { maxUnavailable: 1, suspend: true })],
		counts: [count("eu", 3, 3)],
		expected: { suspended: true, allowed: undefined, problem: undefined },
	},
	{
		name: "suspended in one member is not off",
		budgets: [budget("eu", { maxUnavailable: 1, suspend: true }), budget("us", { maxUnavailable: 1 })],
		counts: [count("eu", 3, 3), count("us", 3, 3)],
		expected: { suspended: false, allowed: 1 },
	},
	{
		name: "a field that an agent does not understand refuses",
		budgets: [budget("eu", { maxUnavailable: 1, probe: { endpoint: "x:1" } })],
		counts: [count("eu", 3, 3)],
		expected: { allowed: undefined, problem: "eu: its agent does not understand Probe" },
	},
	{
		name: "selectors that differ refuse and are named",
		budgets: [budget("eu", { maxUnavailable: 1 }), budget("us", { maxUnavailable: 1, selector: {} })],
		counts: [],
		expected: { allowed: undefined, problem: 'selectors differ: "app=db" in eu, "" in us' },
	},
	{
		name: "a budget that cannot be read refuses and is named",
		budgets: [budget("eu", {})],
		counts: [],
		expected: {
			allowed: undefined,
			problem: "eu: Cannot enforce budget: neither spec.minAvailable nor spec.maxUnavailable is set",
		},
	},
];

describe("budgetRow()", () => {
	for (const { name: title, budgets, counts, expected } of rows) {
		test(title, () => {
			expect(budgetRow({ name, spec: {} }, readSpecs(budgets), counts)).toMatchObject(expected);
		});
	}

	test("shows each member's pods", () => {
		const counts = [count("eu", 2, 3), count("us", 1, "x"), { cluster: "ap", count: new Error("down") }];
		const { perCluster } = budgetRow({ name, spec: {} }, readSpecs([budget("eu", { minAvailable: 1 })]), counts);
		expect([...perCluster]).toEqual([
			["eu", { healthy: 2, expected: 3 }],
			["us", { healthy: 1, expected: undefined }],
			["ap", { healthy: undefined, expected: undefined }],
		]);
	});
});
