import { describe, expect, test } from "vitest";
import { simulateDrain } from "../../../plugin/plan/simulate-drain.ts";
import { inWaves, one, type PlanRow, planBudget, planPod, queue, story, two } from "./build-plan.ts";

describe("simulateDrain() with replacements that no node takes", () => {
	const stranded = (name: string, fields: Parameters<typeof planPod>[1] = {}) =>
		planPod(name, { strands: "for ever", ...fields });
	const rows: readonly PlanRow[] = [
		{
			name: "lets as many go as the budget allows, and the others never",
			queues: [queue([stranded("a"), stranded("b"), stranded("c")])],
			budgets: [planBudget(two)],
			expected: ["a@0", "b@0", "c never BudgetStaysUsedUp"],
		},
		{
			name: "keeps pods of other clusters too",
			queues: [queue([stranded("a")]), queue([planPod("b", { clusterId: "us" })])],
			budgets: [planBudget(one)],
			expected: ["a@0", "b never BudgetStaysUsedUp"],
		},
		{
			name: "lets those go one by one that what is left of the budget is enough for",
			queues: [queue([stranded("a"), planPod("b"), planPod("c")])],
			budgets: [planBudget(two)],
			expected: ["a@0", "b@0", "c@1 for b"],
		},
		{
			name: "waits for others where these make way, and never for what is lost",
			queues: [queue([stranded("a"), stranded("b"), stranded("c")])],
			budgets: [planBudget(two, { us: { healthy: 2 } })],
			expected: ["a@0", "b@0 for others (BudgetExhausted)", "c never BudgetStaysUsedUp"],
		},
		{
			name: "loses an unready pod for good, too",
			queues: [queue([stranded("a", { state: { healthy: false } }), stranded("b"), stranded("c")])],
			budgets: [planBudget(two, { eu: { healthy: 2 } })],
			expected: ["a@0", "b@0", "c never BudgetStaysUsedUp"],
		},
		{
			name: "holds nothing back that no budget covers",
			queues: [queue([stranded("x", { budgets: [] }), stranded("y", { budgets: [] })])],
			expected: ["x@0", "y@0"],
		},
		{
			name: "waits for others where a node only takes no pods at present",
			queues: [queue([planPod("a", { strands: "for now" }), planPod("b"), planPod("c")])],
			budgets: [planBudget(one)],
			expected: ["a@0", "b@0 for others (BudgetExhausted)", "c@1 for others (BudgetExhausted) for b"],
		},
		{
			name: "knows where expected pods are not counted what comes back when nodes take pods again",
			queues: [queue([planPod("a", { strands: "for now" }), stranded("b"), planPod("c")])],
			budgets: [planBudget({ minAvailable: 5 }, { us: { expected: { kind: "unknown", reason: "no scale" } } })],
			expected: ["a@0", "b@0 for others (BudgetExhausted)", "c never BudgetStaysUsedUp"],
		},
	];
	for (const { name, queues, budgets = [], expected } of rows) {
		test(name, () => expect(story(simulateDrain(queues, budgets, inWaves))).toEqual(expected));
	}

	test("says whose replacements use the budget up", () => {
		const told = (...names: readonly string[]) =>
			simulateDrain(
				[queue([...names, "z"].map((name) => stranded(name)))],
				[planBudget({ maxUnavailable: names.length })],
				inWaves,
			).pods.flatMap((pod) => (pod.kind === "never" ? [pod.never.message] : []));
		expect(told("a")).toEqual([
			"budget shop/db has no disruption left: 5 of 6 healthy, 5 required, and stays used up: the replacement of shop/a would find no node",
		]);
		expect(told("a", "b")[0]).toMatch(/: the replacements of shop\/a and shop\/b would find no node$/);
		expect(told("a", "b", "c")[0]).toMatch(/: the replacements of shop\/a and 2 more would find no node$/);
	});
});
