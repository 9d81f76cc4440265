// Tests that a user with rights to one namespace, or with a cluster that does not answer, learns what can be seen.
import { describe, expect, test } from "vitest";
import { exitCodeOf } from "../../../plugin/plan/explain/explanation.ts";
import { ExplainedFleet } from "./explained-fleet.ts";
import { newNativeBudget } from "./native-budget.ts";

const allPods = "/api/v1/pods";
const allNative = "/apis/policy/v1/poddisruptionbudgets";
const ownNative = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets";

describe("explain with few rights", () => {
	test("judges the pods of the user's namespace, and calls a node with others unknown", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 2 });
		for (const path of [allPods, "/api/v1/nodes", "/api/v1/nodes/eu-n0"]) world.forbidden.add(path);
		const found = await world.explain("eu/node/eu-n0");
		const seen = "Only pods of namespace shop could be listed, the node may have others: /api/v1/pods is forbidden";
		expect(found).toMatchObject({
			verdict: "Unknown",
			findings: [{ verdict: "Unknown", reason: "Forbidden", message: seen }],
			pods: [{ verdict: "MayGo" }, { verdict: "MayGo" }],
			notes: [
				"Whether node eu-n0 is cordoned or being drained is not known: /api/v1/nodes/eu-n0 is forbidden",
				seen,
				"Whether other nodes take the replacements is not known: /api/v1/nodes is forbidden",
			],
		});
		expect(exitCodeOf(found.verdict)).toBe(4);
	});

	test("says no where one of the pods that can be seen can never go", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 0 });
		world.forbidden.add(allPods);
		expect(await world.explain("eu/node/eu-n0")).toMatchObject({ verdict: "Refused" });
	});

	test("reads the PodDisruptionBudgets of the pod's namespace where those of all are forbidden", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		world.forbidden.add(allNative);
		expect(await world.explain("eu/pod/db-0")).toMatchObject({ verdict: "MayGo", findings: [] });
		world.native = [newNativeBudget({ expectedPods: 2, currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0 })];
		expect(await world.explain("eu/pod/db-0")).toMatchObject({ findings: [{ reason: "BudgetNeverMet" }] });
	});

	test("says nothing of PodDisruptionBudgets that may not be read at all", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		world.forbidden.add(allNative).add(ownNative);
		const found = await world.explain("eu/pod/db-0");
		expect(found).toMatchObject({ verdict: "Unknown", findings: [{ reason: "Forbidden" }] });
		expect(found.findings[0]?.message).toContain(`${ownNative} is forbidden`);
	});

	test("finds a pod in the context that may be searched, and names the others", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		world.fleet.member("eu").addPod("db-7");
		world.forbidden.add("us /api/v1/namespaces/shop/pods/db-7");
		expect(await world.explain("pod/db-7")).toMatchObject({
			subject: { context: "eu", name: "db-7" },
			notes: ["Context us was not searched for the pod: /api/v1/namespaces/shop/pods/db-7 is forbidden"],
		});
		world.forbidden.clear();
		world.unreachable.add("us");
		expect((await world.explain("pod/db-7")).notes[0]).toMatch(/^Context us was not searched for the pod: .*ETIMEDOUT/);
	});

	test("fails with the name of the context where no other one has it", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		world.forbidden.add("us /api/v1/namespaces/shop/pods/none");
		await expect(world.explain("pod/none")).rejects.toThrow(
			"context us: /api/v1/namespaces/shop/pods/none is forbidden",
		);
	});
});
