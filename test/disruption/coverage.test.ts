import { describe, expect, test } from "vitest";
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { coveringBudgets } from "../../disruption/budget/covering.ts";
import { formatSelector } from "../../disruption/budget/selector.ts";

function member(name: string, spec: unknown): MemberBudget {
	return { name: { namespace: "shop", name }, spec };
}

const app = (value: string) => ({ selector: { matchLabels: { app: value } } });

describe("coveringBudgets()", () => {
	const pod = { namespace: "shop", labels: { app: "db", zone: "a" } };
	interface Row {
		readonly name: string;
		readonly budgets: readonly MemberBudget[];
		/** "name: selector", or "name: ?" for a budget that covers everything because it cannot be read. */
		readonly expected: readonly string[];
	}
	const rows: readonly Row[] = [
		{ name: "finds none where there is none", budgets: [], expected: [] },
		{ name: "finds a budget that selects the pod", budgets: [member("db", app("db"))], expected: ["shop/db: app=db"] },
		{ name: "leaves out one that does not", budgets: [member("web", app("web"))], expected: [] },
		{
			name: "leaves out one of another namespace",
			budgets: [{ name: { namespace: "bank", name: "db" }, spec: app("db") }],
			expected: [],
		},
		{
			name: "takes an empty selector for all pods of the namespace",
			budgets: [member("all", { selector: {} })],
			expected: ["shop/all: "],
		},
		{
			name: "covers a pod that only another member's selector selects",
			budgets: [member("db", app("web")), member("db", app("db"))],
			expected: ["shop/db: app=db"],
		},
		{
			name: "names a budget of several members once",
			budgets: [member("db", app("db")), member("db", app("db"))],
			expected: ["shop/db: app=db"],
		},
		{
			name: "sorts by name, whatever the order of the members",
			budgets: [member("z", app("db")), member("a", app("db"))],
			expected: ["shop/a: app=db", "shop/z: app=db"],
		},
		{ name: "covers everything where the selector is missing", budgets: [member("x", {})], expected: ["shop/x: ?"] },
		{ name: "covers everything where the spec is missing", budgets: [member("x", undefined)], expected: ["shop/x: ?"] },
		{ name: "covers everything where the spec is a text", budgets: [member("x", "all")], expected: ["shop/x: ?"] },
		{
			name: "covers everything where the selector cannot be read",
			budgets: [member("x", { selector: { matchLabels: { app: 1 } } })],
			expected: ["shop/x: ?"],
		},
		{
			name: "covers everything where one member's selector cannot be read and the other's does not match",
			budgets: [member("x", app("web")), member("x", { selector: [] })],
			expected: ["shop/x: ?"],
		},
		{
			name: "prefers the selector that can be read, the earlier one",
			budgets: [member("x", app("db")), member("x", { selector: [] })],
			expected: ["shop/x: app=db"],
		},
		{
			name: "prefers the selector that can be read, the later one",
			budgets: [member("x", { selector: [] }), member("x", app("db"))],
			expected: ["shop/x: app=db"],
		},
		{
			// The decision refuses this budget by name. Here, it still covers what its selector selects.
			name: "reads the selector of a budget that is invalid otherwise",
			budgets: [member("x", { ...app("web"), minAvailable: "half" })],
			expected: [],
		},
	];
	for (const { name, budgets, expected } of rows) {
		test(name, () => {
			const found = coveringBudgets(budgets, pod);
			const texts = found.map((each) => {
				const selector = each.selector ? formatSelector(each.selector) : "?";
				return `${formatBudgetName(each.name)}: ${selector}`;
			});
			expect(texts).toEqual(expected);
		});
	}
});

describe("a selector that was read before", () => {
	const pod = { namespace: "shop", labels: { app: "db" } };
	const covers = (spec: unknown) => coveringBudgets([member("b", spec)], pod).length > 0;

	test("is read anew where somebody could have changed it, wherever in it that is", () => {
		const labels: Record<string, string> = { app: "web" };
		const values: string[] = ["web"];
		const byLabels = Object.freeze({ selector: Object.freeze({ matchLabels: labels }) });
		const expressions = Object.freeze([Object.freeze({ key: "app", operator: "In", values })]);
		const byExpressions = Object.freeze({ selector: Object.freeze({ matchExpressions: expressions }) });
		const open: { selector: object } = { selector: { matchLabels: { app: "web" } } };
		expect([byLabels, byExpressions, open].map(covers)).toEqual([false, false, false]);
		labels["app"] = "db";
		values[0] = "db";
		open.selector = {};
		expect([byLabels, byExpressions, open].map(covers)).toEqual([true, true, true]);
	});

	test("is the same where nobody can have changed it", () => {
		const spec = Object.freeze({ selector: Object.freeze({ matchLabels: Object.freeze({ app: "db" }) }) });
		const none = Object.freeze({ selector: Object.freeze({ matchLabels: Object.freeze({ app: "web" }) }) });
		const unreadable = Object.freeze({ selector: "app=web" });
		for (let look = 0; look < 2; look += 1) expect([spec, none, unreadable].map(covers)).toEqual([true, false, true]);
		const read = (): unknown => coveringBudgets([member("b", spec)], pod)[0]?.selector;
		expect(read()).toBe(read());
	});
});
