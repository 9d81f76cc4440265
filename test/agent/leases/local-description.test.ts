import { describe, expect, test } from "vitest";
import { memberBudget, newSpec } from "../../support/build-count.ts";
import { simulateCluster, unavailable } from "../../support/simulated-agent.ts";

describe("LocalCluster.describe()", () => {
	test("tells budgets where it is asked for them, of these namespaces, and itself alone where they cannot be had", async () => {
		const { newAgent, server } = simulateCluster();
		const agent = newAgent();
		server.putBudget(memberBudget(newSpec({ minAvailable: 1 }), { namespace: "bank", name: "db" }));
		expect(await agent.local.describe()).not.toHaveProperty("budgets");
		const { budgets, ...rest } = await agent.local.describe(["bank"]);
		expect(budgets).toEqual(await agent.local.listBudgets(["bank"]));
		expect(rest).toEqual(await agent.local.describe());
		agent.local.listBudgets = () => Promise.reject(unavailable);
		expect(await agent.local.describe(["bank"])).toEqual(rest);
	});
});

describe("LocalCluster.listBudgets()", () => {
	test("compares workloads ahead only in namespaces that have budgets, whichever are named", async () => {
		const { newAgent, server } = simulateCluster();
		const wanted: string[] = [];
		const workloads = {
			isProven: () => false,
			wanted: (namespace: string) => void wanted.push(namespace),
			workloads: () => [],
			shownScale: () => undefined,
		};
		const agent = newAgent({ workloads });
		server.putBudget(memberBudget(newSpec({ minAvailable: 1 }), { namespace: "bank", name: "db" }));
		await agent.local.listBudgets(["shop", "made-up", "also-made-up"]);
		await agent.local.listBudgets([]);
		expect(wanted).toEqual(["shop"]);
	});
});
