import { describe, expect, test } from "vitest";
import { budgetRows } from "../../../plugin/ui/budget-rows.ts";
import { RunFacts } from "../../../plugin/ui/run-facts.ts";
import { lineText } from "../../../plugin/ui/styled-line.ts";

const names = ["a", "b", "c", "d", "e"];

function factsWhereUsedUp(...usedUp: readonly string[]): RunFacts {
	const facts = new RunFacts();
	for (const name of names) {
		const left = usedUp.includes(name) ? 0 : 1;
		facts.see(
			{ type: "budget.changed", budget: `shop/${name}`, healthy: 2 + left, need: 2, expected: 3, left, clusters: [] },
			0,
		);
	}
	return facts;
}

function drawn(facts: RunFacts, height: number, selected?: string): readonly string[] {
	const key = facts.budgets.all.find(({ name }) => name === `shop/${selected}`)?.key;
	return budgetRows(facts, height, { columns: 80, now: 0, selected: key }).map(({ line }) =>
		lineText(line).replace(/^(. \S+) {2}.*$/, "$1"),
	);
}

describe("budgetRows()", () => {
	test("shows budgets that are used up before others, in their order", () => {
		expect(drawn(factsWhereUsedUp("b", "e"), 4)).toEqual(["  shop/a", "  shop/b", "  shop/e", "  + 2 more (b)"]);
	});

	test("shows the selected budget even if those that are used up need all the room", () => {
		const facts = factsWhereUsedUp("a", "b", "c");
		expect(drawn(facts, 3, "e")).toEqual(["  shop/a", "> shop/e", "  + 3 more, 2 of them used up (b)"]);
		expect(drawn(facts, 3, "c")).toEqual(["  shop/a", "> shop/c", "  + 3 more, 1 of them used up (b)"]);
	});

	test("counts only budgets that are used up as used up", () => {
		expect(drawn(factsWhereUsedUp(), 1, "e")).toEqual(["  + 5 more (b)"]);
	});
});
