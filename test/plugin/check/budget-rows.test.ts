import { expect, test } from "vitest";
import { budgetRows } from "../../../plugin/check/budget-rows.ts";
import { ExplainedFleet } from "../explain/explained-fleet.ts";

test("a member whose list is missing is told once, and not said to have no such budget", async () => {
	const world = new ExplainedFleet({ maxUnavailable: 2 });
	world.unlisted.add("us");
	const { fleet } = world.view;
	if (!fleet) throw new Error("no fleet");
	const rows = await budgetRows(Promise.resolve({ kind: "read", value: fleet }), world.contexts, {
		namespace: "shop",
		now: () => 0,
	});
	const same = rows.find(({ title }) => title === "budgets are the same everywhere");
	expect(same?.findings).toEqual([{ reason: "NotChecked", result: "unknown", cluster: "us", message: "no list" }]);
});
