import { describe, expect, test } from "vitest";
import { formatOperation, operationAnnotation } from "../../../plugin/nodes/operation.ts";
import { ExplainedFleet, wallClock } from "./explained-fleet.ts";
import { newNativeBudget } from "./native-budget.ts";

const verdictsOf = async (world: ExplainedFleet) => {
	const { verdict, pods } = await world.explain("eu/node/eu-n0");
	return { verdict, pods: pods.map(({ pod, verdict: of }) => `${pod} ${of}`) };
};

describe("explain node", () => {
	test("lets pods that take from the same budget follow each other, and the drain begin", async () => {
		expect(await verdictsOf(new ExplainedFleet({ maxUnavailable: 1 }))).toEqual({
			verdict: "MayGo",
			pods: ["db-1 Follows", "db-0 MayGo"],
		});
	});

	test("counts what a PodDisruptionBudget has left for all of its pods together", async () => {
		const world = new ExplainedFleet();
		world.native = [newNativeBudget({ expectedPods: 2, currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1 })];
		expect(await verdictsOf(world)).toEqual({ verdict: "MayGo", pods: ["db-1 Follows", "db-0 MayGo"] });
	});

	test("keeps all of a node for one pod that a drain refuses, and says why of that one", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 2 });
		world.fields.set("db-1", { emptyDir: true });
		const found = await world.explain("eu/node/eu-n0");
		expect(found).toMatchObject({
			verdict: "Refused",
			findings: [
				{ reason: "PodsNotAllowed", message: "Pods with local storage (use --delete-emptydir-data to override)" },
			],
			pods: [
				{ pod: "db-1", verdict: "Refused" },
				{ pod: "db-0", verdict: "MayGo" },
			],
		});
	});

	test("is not kept by pods that a drain leaves", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 0 });
		for (const name of ["db-0", "db-1"]) world.fields.set(name, { owner: { kind: "DaemonSet", name: "log" } });
		expect(await world.explain("eu/node/eu-n0")).toMatchObject({ verdict: "MayGo", findings: [] });
	});

	test("says whose drain of it is under way, and for how long", async () => {
		const world = new ExplainedFleet();
		world.nodeAnnotations = {
			[operationAnnotation]: formatOperation({
				id: "7f3c2a",
				state: "draining",
				by: "alice@laptop",
				since: new Date(wallClock - 2 * 3_600_000).toISOString(),
				nodes: 1,
				fleet: "",
				flags: {},
				typedAgain: [],
				cordonedBefore: false,
			}),
		};
		expect((await world.explain("eu/node/eu-n0")).notes).toEqual([
			"Node eu-n0 belongs to an unfinished drain: operation 7f3c2a of alice@laptop, begun 2h ago",
		]);
	});

	test("waits for a pod that should be gone by now, not for one that ends in time", async () => {
		const world = new ExplainedFleet();
		world.fields.set("db-0", { deletedAt: "2026-01-01T00:10:30Z" });
		expect(await verdictsOf(world)).toMatchObject({ verdict: "MayGo" });
		world.fields.set("db-0", { deletedAt: "2026-01-01T00:09:30Z" });
		expect(await world.explain("eu/node/eu-n0")).toMatchObject({
			verdict: "Waits",
			findings: [{ reason: "TimedOut", message: expect.stringContaining("should be gone since 30s") }],
		});
	});
});
