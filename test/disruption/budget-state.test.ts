import { describe, expect, test } from "vitest";
import type { Count } from "../../disruption/budget/cluster.ts";
import { decide, decideWithStates } from "../../disruption/budget/decide.ts";
import { type BudgetState, budgetState } from "../../disruption/budget/allowance.ts";
import { budget, memberBudget, newCount, newSpec, podReference, presentPod, selector } from "../support/build-count.ts";

function stateOf(spec: Readonly<Record<string, unknown>>, us: Partial<Count> = {}): BudgetState | undefined {
	const budgets = [memberBudget(newSpec(spec))];
	return budgetState({
		budget: { name: budget, selector },
		counts: [newCount("eu", { budgets }), newCount("us", { budgets, ...us })],
	});
}

describe("budgetState()", () => {
	test("says what is healthy, needed and left, and where", () => {
		expect(stateOf({ maxUnavailable: 2 }, { healthy: 2 })).toEqual({
			budget,
			healthy: 5,
			need: 4,
			expected: 6,
			left: 1,
			clusters: [
				{ name: "eu-1", healthy: 3, expected: 3 },
				{ name: "us-1", healthy: 2, expected: 3 },
			],
		});
	});

	test("never has less than nothing left", () => {
		expect(stateOf({ maxUnavailable: 1 }, { healthy: 0 })).toMatchObject({ healthy: 3, need: 5, left: 0 });
	});

	test("has nothing left where a member's healthy pods are more than it expects, and the others too few", () => {
		expect(stateOf({ minAvailable: 6 }, { healthy: 9, expected: { kind: "known", pods: 2 } })).toMatchObject({
			left: 0,
		});
	});

	test("has nothing left where no pods are expected, as the decision has it", () => {
		const none: Partial<Count> = { expected: { kind: "known", pods: 0 } };
		const budgets = [memberBudget(newSpec({ minAvailable: 0 }))];
		const counts = [newCount("eu", { budgets, ...none }), newCount("us", { budgets, ...none })];
		expect(budgetState({ budget: { name: budget, selector }, counts })).toMatchObject({ healthy: 6, left: 0 });
	});

	test("has no bound while the budget is suspended", () => {
		const state = stateOf({ maxUnavailable: 0, suspend: true });
		expect(state).toMatchObject({ healthy: 6 });
		expect(state).not.toHaveProperty("need");
		expect(state).not.toHaveProperty("left");
	});

	test("leaves out expected pods that nobody knows and nobody needs", () => {
		const state = stateOf({ minAvailable: 4 }, { expected: { kind: "unknown", reason: "an owner without scale" } });
		expect(state).toMatchObject({ healthy: 6, need: 4, left: 2 });
		expect(state).not.toHaveProperty("expected");
		expect(state?.clusters[1]).toEqual({ name: "us-1", healthy: 3 });
	});

	test("is nothing where the budget refuses: the verdicts say why", () => {
		expect(stateOf({ maxUnavailable: "101%" })).toBeUndefined();
	});
});

describe("decideWithStates()", () => {
	const budgets = [memberBudget(newSpec({ maxUnavailable: 2 }))];
	const candidates = [{ clusterId: "eu", pod: podReference("db-0") }];
	const counts = [newCount("eu", { budgets, candidates: [presentPod("db-0")] }), newCount("us", { budgets })];
	const counted = { budget: { name: budget, selector }, counts };

	test("judges as decide() does, and has the states from before the grants", () => {
		const { judgements, states } = decideWithStates(["eu", "us"], [counted], candidates);
		expect(judgements).toMatchObject([{ kind: "grantable" }]);
		expect(judgements).toEqual(decide(["eu", "us"], [counted], candidates));
		expect(states).toEqual([budgetState(counted)]);
	});

	test("has no state of counts that are not of one fleet", () => {
		const { judgements, states } = decideWithStates(["eu", "us", "ap"], [counted], candidates);
		expect(judgements).toMatchObject([{ kind: "refused", reason: "FleetsDiffer" }]);
		expect(states).toEqual([]);
	});
});
