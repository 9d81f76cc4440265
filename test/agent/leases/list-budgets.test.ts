import { describe, expect, test } from "vitest";
import { memberBudget, newSpec } from "../../support/build-count.ts";
import { simulateCluster } from "../../support/simulated-agent.ts";

describe("LocalCluster.listBudgets()", () => {
	test("lists those of the namespaces that are asked for, and all where none is", async () => {
		const { newAgent, server } = simulateCluster();
		const agent = newAgent();
		for (const namespace of ["bank", "zoo"]) {
			server.putBudget(memberBudget(newSpec({ minAvailable: 1 }), { namespace, name: "db" }));
		}
		const namespaces = async (...asked: string[]) =>
			(await agent.local.listBudgets(asked)).budgets.map(({ name }) => name.namespace);
		expect(await namespaces("shop")).toEqual(["shop"]);
		expect(await namespaces("shop", "zoo")).toEqual(["shop", "zoo"]);
		expect(await namespaces()).toEqual(["shop", "bank", "zoo"]);
	});

	test("lists a few namespaces each, and many by one list of all", async () => {
		const { newAgent } = simulateCluster();
		const agent = newAgent();
		const lists = async (asked: readonly string[]) => {
			agent.requests.length = 0;
			await agent.local.listBudgets(asked);
			return agent.requests.filter((request) => request === "list budgets").length;
		};
		const names = Array.from({ length: 11 }, (_, index) => `namespace-${index}`);
		expect([await lists(["shop"]), await lists(["shop", "bank", "shop"])]).toEqual([1, 2]);
		expect([await lists(names), await lists([])]).toEqual([1, 1]);
	});
});
