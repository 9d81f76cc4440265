import { describe, expect, test } from "vitest";
import { look } from "../../../agent/leases/count.ts";
import type { LookRequest, PodReference } from "../../../disruption/budget/cluster.ts";
import type { LeaseState } from "../../../disruption/lease/lease-text.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { budget, labels, memberBudget, newSpec, selector } from "../../support/build-count.ts";
import { newReservation } from "../../support/build-lease.ts";
import { type CountWorld, simulateCount } from "./count-world.ts";

describe("countUnder() says of a candidate", () => {
	async function stateOf(world: CountWorld, pod: PodReference, state: Partial<LeaseState> = {}) {
		return (await world.count(state, [pod])).count.candidates[0];
	}

	test("what the view has of it", async () => {
		const world = simulateCount();
		const { db0 } = world;
		expect(await stateOf(world, db0)).toEqual({
			kind: "present",
			pod: { namespace: "shop", name: "db-0", uid: db0.uid },
			healthy: true,
			resourceVersion: db0.resourceVersion,
			labels,
			controller: db0.controller,
			preActivities: [],
		});
	});

	const changes: readonly { readonly name: string; readonly change: Partial<PodRecord>; readonly expected: object }[] =
		[
			{
				name: "that it is free when it terminates",
				change: { terminating: true },
				expected: { kind: "free", why: "Terminating" },
			},
			{
				name: "that it is free when it has finished",
				change: { finished: true },
				expected: { kind: "free", why: "Finished" },
			},
			{ name: "that it is not ready", change: { ready: false }, expected: { kind: "present", healthy: false } },
			{ name: "its pre-activities", change: { preActivities: ["backup"] }, expected: { preActivities: ["backup"] } },
			{
				name: "its labels, also where the budget does not select it any more",
				change: { labels: { app: "web" } },
				expected: { labels: { app: "web" } },
			},
		];
	for (const { name, change, expected } of changes) {
		test(name, async () => {
			const world = simulateCount();
			world.server.changePod(world.db0, change);
			world.see();
			expect(await stateOf(world, world.db0)).toMatchObject(expected);
		});
	}

	test("how often somebody changes it without any effect", async () => {
		const world = simulateCount();
		for (let beat = 0; beat < 2; beat += 1) {
			world.clock.advance(200);
			world.server.changePod(world.db0, {});
			world.see();
		}
		expect(await stateOf(world, world.db0)).toMatchObject({ kind: "present", changesEveryMs: 200 });
		expect(await stateOf(world, world.db1)).not.toHaveProperty("changesEveryMs");
	});

	test("who has it reserved, in whichever Lease of the namespace", async () => {
		const world = simulateCount();
		world.otherLease("zone-a", { reservations: [newReservation("db-0", { uid: world.db0.uid, holder: "drain-8a" })] });
		expect(await stateOf(world, world.db0)).toMatchObject({
			healthy: false,
			reservedBy: { holder: "drain-8a", sinceSeconds: 1_795_000_000 },
		});
	});

	test("the Deployment behind its ReplicaSet, to be remembered", async () => {
		const world = simulateCount();
		const deployment = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "uid-of-web" };
		const replicaSet = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "uid-of-web-1" };
		world.server.putController({ ...deployment, namespace: "shop", replicas: 1 });
		world.server.putController({ ...replicaSet, namespace: "shop", replicas: 1, ownedBy: deployment });
		const pod = world.server.createPod({ name: "web-1-x", namespace: "shop", labels, controller: replicaSet });
		world.see();
		expect(await stateOf(world, pod)).toMatchObject({ controller: deployment });
	});

	test("that nobody says how many there should be of it, where no controller owns it", async () => {
		const world = simulateCount();
		const pod = world.server.createPod({ name: "bare-0", namespace: "shop", labels });
		world.see();
		const state = await stateOf(world, pod);
		expect(state).toMatchObject({ kind: "present", unexpected: "no controller owns it" });
		expect(state).not.toHaveProperty("controller");
	});

	test("that it is unseen where it is younger than the view", async () => {
		const world = simulateCount();
		const pod = world.server.createPod({ name: "db-3", namespace: "shop", labels });
		expect(await stateOf(world, pod)).toMatchObject({ kind: "unseen", pod: { name: "db-3" } });
	});

	test("that it is gone where there is none of that name", async () => {
		expect(await stateOf(simulateCount(), { namespace: "shop", name: "db-9", uid: "u" })).toMatchObject({
			kind: "gone",
		});
	});

	test("that it is gone where another pod has its name", async () => {
		const world = simulateCount();
		expect(await stateOf(world, { ...world.db0, uid: "of its predecessor" })).toMatchObject({ kind: "gone" });
	});
});

describe("look()", () => {
	test("counts from what the view shows, without a Lease and without waiting", async () => {
		const { options, requests } = simulateCount();
		const found = await look(Promise.resolve(undefined), { budget, selector, candidates: [] }, options);
		expect(found).toMatchObject({ healthy: 3, expected: { kind: "known", pods: 3 } });
		expect(requests).not.toContain("list leases");
	});

	test("at one budget alone reads and tells no other, and none where it is gone", async () => {
		const { options, requests, server, budgets, now } = simulateCount();
		for (const name of ["cache", "queue"]) {
			server.putBudget({ ...memberBudget(newSpec({ maxUnavailable: 1 })), name: { namespace: "shop", name } });
		}
		budgets.replace([...server.budgets.values()], now());
		const question = { budget, selector, candidates: [] };
		const told = async (asked: LookRequest) =>
			(await look(Promise.resolve(undefined), asked, options)).budgets.map(({ name }) => name.name).toSorted();
		expect(await told({ ...question, thisBudgetAlone: true })).toEqual([budget.name]);
		expect(requests.filter((request) => request.includes("budgets"))).toEqual(["get budgets"]);
		expect(await told(question)).toHaveLength(3);
		const gone = { ...budget, name: "gone" };
		expect(await told({ ...question, budget: gone, thisBudgetAlone: true })).toEqual([]);
	});

	test("leaves reserved pods out and names their holders", async () => {
		const { options, lease, db0 } = simulateCount();
		const reserved = lease({ reservations: [newReservation("db-0", { uid: db0.uid })] });
		const found = await look(Promise.resolve(reserved), { budget, selector, candidates: [] }, options);
		expect(found).toMatchObject({ healthy: 2, unavailable: [{ name: "db-0", holder: "drain-7f" }] });
	});
});
