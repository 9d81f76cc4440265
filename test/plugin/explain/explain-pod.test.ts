import { describe, expect, test } from "vitest";
import { ExplainedFleet } from "./explained-fleet.ts";
import { newNativeBudget } from "./native-budget.ts";

function expectUntouched({ fleet }: ExplainedFleet): void {
	expect(fleet.evictions).toEqual([]);
	expect(fleet.dryRuns).toEqual([]);
	for (const { rounds, reservations } of fleet.members)
		expect({ rounds, reserved: reservations.size }).toEqual({ rounds: 0, reserved: 0 });
}

describe("explain pod", () => {
	test("says that a pod may go whose budget has room, with the numbers of all clusters, and takes no lease", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		const found = await world.explain("eu/pod/db-0");
		expect(found).toMatchObject({
			verdict: "MayGo",
			findings: [],
			pods: [{ budgets: ["shop/db"], node: "eu-n0", owner: "StatefulSet/db", state: "Running" }],
			budgets: [{ healthy: 4, need: 3, expected: 4, allowed: 1 }],
		});
		expectUntouched(world);
	});

	test("says who uses up the budget that keeps it", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		world.pod("us", "db-1").healthy = false;
		expect(await world.explain("pod", "eu/db-0")).toMatchObject({
			verdict: "Waits",
			findings: [
				{
					reason: "BudgetExhausted",
					message: "budget shop/db has no disruption left: 3 of 4 healthy, 3 required",
					usedBy: [{ cluster: "us", pod: "db-1", why: "NotReady" }],
				},
			],
		});
	});

	test("counts no more healthy pods in a cluster than it expects, as a round does", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 1 });
		world.pod("us", "db-1").healthy = false;
		const eu = world.fleet.member("eu");
		// A rollout adds a pod in eu.
		eu.addPod("surge");
		eu.expected -= 1;
		expect(await world.explain("pod", "us/db-0")).toMatchObject({
			findings: [{ message: "budget shop/db has no disruption left: 3 of 4 healthy, 3 required" }],
		});
	});

	test("says that only somebody's act helps where a budget leaves none to disrupt", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 0 });
		expect(await world.explain("eu/pod/db-0")).toMatchObject({
			verdict: "Refused",
			findings: [{ reason: "BudgetNeverMet", message: expect.stringContaining("leaves none to disrupt") }],
		});
	});

	test("lets a pod go that no budget covers", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 0 });
		world.pod("eu", "db-0").labels = { app: "web" };
		expect(await world.explain("eu/pod/db-0")).toMatchObject({
			verdict: "MayGo",
			budgets: [],
			pods: [{ budgets: [] }],
		});
	});

	test("lets a pod go whose budget is suspended", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 0, suspend: true });
		expect(await world.explain("eu/pod/db-0")).toMatchObject({ verdict: "MayGo", budgets: [{ suspended: true }] });
	});

	test("names who was granted the pod", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 2 });
		world.fleet.member("eu").reservations.set(world.pod("eu", "db-0").uid, "id");
		expect(await world.explain("eu/pod/db-0")).toMatchObject({
			verdict: "Waits",
			findings: [{ reason: "PodReserved", message: "pod shop/db-0 is being evicted by someone" }],
		});
	});

	test("says of a pod that terminates since when, and what holds it when it should be gone", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 0 });
		world.fields.set("db-0", { deletedAt: "2026-01-01T00:00:00Z" });
		const { verdict, pods } = await world.explain("eu/pod/db-0");
		expect(verdict).toBe("MayGo");
		expect(pods[0]?.message).toMatch(
			/^it is terminating already, for 10m00s, and should be gone since 10m00s: is the kubelet/,
		);
	});

	test("says of a static pod that nothing ends it", async () => {
		const world = new ExplainedFleet();
		world.fields.set("db-0", { annotations: { "kubernetes.io/config.mirror": "x" } });
		expect(await world.explain("eu/pod/db-0")).toMatchObject({
			verdict: "Refused",
			findings: [{ reason: "PodsNotAllowed" }],
		});
	});

	test("lets a pod of a DaemonSet go, and says that a drain leaves it", async () => {
		const world = new ExplainedFleet();
		world.fields.set("db-0", { owner: { kind: "DaemonSet", name: "log" } });
		expect(await world.explain("eu/pod/db-0")).toMatchObject({
			verdict: "MayGo",
			pods: [{ drain: { kind: "leaves" } }],
		});
	});

	test("lets a pod with an emptyDir go, and says that a drain refuses it", async () => {
		const world = new ExplainedFleet();
		world.fields.set("db-0", { emptyDir: true });
		expect(await world.explain("eu/pod/db-0")).toMatchObject({
			verdict: "MayGo",
			pods: [
				{ drain: { kind: "refuses", message: "Pods with local storage (use --delete-emptydir-data to override)" } },
			],
		});
	});

	test.each([
		{
			name: "is used up",
			status: { currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0 },
			says: "has no disruption left: 2 of 3 healthy, 2 required",
		},
		{
			name: "leaves none",
			status: { currentHealthy: 3, desiredHealthy: 3, disruptionsAllowed: 0 },
			says: "leaves none to disrupt",
		},
		{
			name: "has evictions to count",
			status: { currentHealthy: 3, desiredHealthy: 2, disruptionsAllowed: 0 },
			says: "has counted the evictions before",
		},
		{
			name: "was not counted",
			status: { currentHealthy: 3, desiredHealthy: 2, disruptionsAllowed: 1, observedGeneration: 1 },
			says: "has not counted it since",
		},
	])("says of a PodDisruptionBudget that $name", async ({ status, says }) => {
		const world = new ExplainedFleet();
		world.native = [newNativeBudget({ expectedPods: 3, ...status })];
		const { verdict, findings } = await world.explain("eu/pod/db-0");
		expect(verdict).not.toBe("MayGo");
		expect(findings[0]?.message).toMatch(/^PodDisruptionBudget shop\/db /);
		expect(findings[0]?.message).toContain(says);
	});

	test("lets a pod go under a PodDisruptionBudget with room", async () => {
		const world = new ExplainedFleet();
		world.native = [newNativeBudget({ expectedPods: 3, currentHealthy: 3, desiredHealthy: 2, disruptionsAllowed: 1 })];
		expect(await world.explain("eu/pod/db-0")).toMatchObject({ verdict: "MayGo" });
	});

	test("needs no fleet where no cluster has agents", async () => {
		const world = new ExplainedFleet();
		Object.defineProperty(world, "view", { value: { fleet: undefined, problems: [] } });
		expect(await world.explain("eu/pod/db-0")).toMatchObject({ verdict: "MayGo", budgets: [] });
	});
});
