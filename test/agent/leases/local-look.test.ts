import { expect, test } from "vitest";
import { budget, memberBudget, newSpec } from "../../support/build-count.ts";
import { asks, atOnce, simulateCluster } from "../../support/simulated-agent.ts";

test("a count that decisions rest on has all budgets of the namespace, also for who asks for one alone as a look may", async () => {
	const world = simulateCluster();
	world.newPod("db-0");
	const agent = world.newAgent();
	world.server.putBudget({ ...memberBudget(newSpec({ maxUnavailable: 1 })), name: { ...budget, name: "all" } });
	agent.see();
	const asked = { ...asks("n"), thisBudgetAlone: true };
	const outcome = await agent.local.acquire(asked, atOnce());
	if (outcome.kind !== "acquired") throw new Error("the Lease is free");
	const again = await agent.local.count(outcome.acquisition, asked);
	const names = [outcome.count, again].map((count) => count.budgets.map(({ name }) => name.name).toSorted());
	expect(names).toEqual([
		["all", "db"],
		["all", "db"],
	]);
});
