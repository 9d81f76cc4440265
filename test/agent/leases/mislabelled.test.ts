import { describe, expect, test } from "vitest";
import { decide } from "../../../disruption/budget/decide.ts";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { budget, labels, selector } from "../../support/build-count.ts";
import { simulateCount } from "./count-world.ts";

/** Counts after these changes to the pods of StatefulSet db, in order. */
async function countWith(...changes: readonly Partial<PodRecord>[]) {
	const world = simulateCount();
	const pods = [world.db0, world.db1, world.db2];
	changes.forEach((change, index) => {
		const pod = pods[index];
		if (pod) world.server.changePod(pod, change);
	});
	world.see();
	const { count } = await world.count({}, [world.db2]);
	return { ...world, counted: count };
}

describe("a count names workloads whose pods carry other labels than their template", () => {
	test("with how many of them do", async () => {
		const { counted } = await countWith({ labels: { app: "x" } }, { labels: {} });
		expect(counted.mislabelled).toEqual([{ kind: "StatefulSet", namespace: "shop", name: "db", wants: 3, others: 2 }]);
	});

	test("and the wait tells of them", async () => {
		const { counted, db2 } = await countWith({ labels: {} }, { labels: {} });
		const count = { ...counted, fleetHash: fleetHash(["eu"]) };
		const candidate = { clusterId: "eu", pod: db2 };
		expect(decide(["eu"], [{ budget: { name: budget, selector }, counts: [count] }], [candidate])).toMatchObject([
			{
				kind: "waiting",
				message:
					"budget shop/db has no disruption left: 1 of 3 healthy, 2 required; StatefulSet shop/db in cluster eu-1 wants 3, but 2 of its pods have labels that the budget does not select",
			},
		]);
	});

	const none: readonly (readonly [string, readonly Partial<PodRecord>[]])[] = [
		["where all have them", []],
		["where a pod is only not ready", [{ ready: false }]],
		["where the one with others is going", [{ labels: {}, terminating: true }]],
		["where that one belongs to nobody", [{ labels: {}, controller: undefined as never }]],
	];
	for (const [what, changes] of none) {
		test(`but not ${what}`, async () => {
			expect((await countWith(...changes)).counted.mislabelled).toBeUndefined();
		});
	}

	test("but not where there are as many as it wants all the same", async () => {
		const { server, controller, see, count } = await countWith({ labels: {} });
		server.createPod({ name: "db-3", namespace: "shop", labels, controller });
		see();
		expect((await count()).count.mislabelled).toBeUndefined();
	});

	test("knows a Deployment's pods by the name of their ReplicaSet", async () => {
		const { server, controller, db0, db1, db2, see, count } = await countWith();
		for (const pod of [db0, db1, db2]) server.removePod(pod);
		server.deleteController(controller, "shop");
		const deployment = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "d" };
		const replicaSet = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "r" };
		server.putController({ ...deployment, namespace: "shop", replicas: 1, template: labels });
		server.putController({ ...replicaSet, namespace: "shop", replicas: 1, ownedBy: deployment });
		server.createPod({ name: "web-1-a", namespace: "shop", labels: {}, controller: replicaSet });
		see();
		expect((await count()).count.mislabelled).toMatchObject([{ kind: "Deployment", name: "web", others: 1 }]);
	});
});
