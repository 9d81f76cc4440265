import { expect, test } from "vitest";
import { withSharedReads } from "../../../agent/cluster-api/shared-reads.ts";
import { clusterApi, SimulatedApiServer } from "../../explore/simulated-api.ts";

const deployment = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "1" };

function setUp() {
	const asked: string[] = [];
	const server = new SimulatedApiServer({ clusterId: "c1", fleet: [] });
	const api = clusterApi(server, async (call) => {
		asked.push(`${call.verb} ${call.resource} ${call.name}`);
		return call.execute();
	});
	return { api: withSharedReads(api), asked };
}

test("questions of one turn share one request, and only the same questions do", async () => {
	const { api, asked } = setUp();
	await Promise.all([
		api.getFleet(),
		api.getFleet(),
		api.getScale(deployment, "shop"),
		api.getScale(deployment, "shop"),
		api.getScale({ ...deployment, name: "api" }, "shop"),
		api.getBudget({ namespace: "shop", name: "db" }),
		api.getBudget({ namespace: "shop", name: "db" }),
		api.getBudget({ namespace: "shop", name: "web" }),
		api.listBudgets("shop"),
		api.listBudgets("shop"),
		api.listBudgets("bank"),
		api.listBudgets(),
	]);
	expect(asked.toSorted()).toEqual([
		"get budgets shop/db",
		"get budgets shop/web",
		"get fleet ",
		"get scales shop/api",
		"get scales shop/web",
		"list budgets ",
		"list budgets ",
		"list budgets ",
	]);
});

test("a question that comes while a request is under way has one of its own", async () => {
	const { api, asked } = setUp();
	const first = api.getFleet();
	await new Promise((resolve) => {
		setImmediate(resolve);
	});
	await Promise.all([first, api.getFleet()]);
	expect(asked).toHaveLength(2);
});
