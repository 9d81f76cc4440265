import { describe, expect, test } from "vitest";
import { GarbledLeaseError } from "../../../disruption/errors.ts";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import { stateAnnotation } from "../../../disruption/lease/lease-text.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { budget, labels, memberBudget, newSpec } from "../../support/build-count.ts";
import { newReservation } from "../../support/build-lease.ts";
import { losing, settle, unavailable } from "../../support/simulated-agent.ts";
import { simulateCount } from "./count-world.ts";

describe("countUnder() counts", () => {
	test("the healthy pods that the budget selects, and says who it is", async () => {
		const { count, server } = simulateCount();
		server.fleet = { members: ["eu", "us"].map((id) => ({ id, name: id })), forgotten: [] };
		expect((await count()).count).toMatchObject({
			clusterId: "eu",
			clusterName: "eu-1",
			fleetHash: fleetHash(["us", "eu"]),
			expected: { kind: "known", pods: 3 },
			healthy: 3,
			unavailable: [],
			budgets: [{ name: budget }],
		});
	});

	const changes: readonly {
		readonly name: string;
		readonly change: Partial<PodRecord>;
		readonly healthy: number;
		readonly why?: string;
	}[] = [
		{ name: "no pod that is not ready", change: { ready: false }, healthy: 2, why: "NotReady" },
		{ name: "no pod that terminates", change: { terminating: true }, healthy: 2, why: "Terminating" },
		{
			name: "no pod that has finished, and does not show it either",
			change: { finished: true, ready: false },
			healthy: 2,
		},
		{ name: "no pod that has left the selector", change: { labels: {} }, healthy: 2 },
	];
	for (const { name, change, healthy, why } of changes) {
		test(name, async () => {
			const { count, server, db0, see } = simulateCount();
			server.changePod(db0, change);
			see();
			const found = (await count()).count;
			expect(found.healthy).toBe(healthy);
			expect(found.unavailable).toMatchObject(why ? [{ name: "db-0", why }] : []);
		});
	}

	test("no pod that is reserved in its own Lease, marked or not", async () => {
		const { count, db0, db1 } = simulateCount();
		const reservations = [
			newReservation("db-0", { uid: db0.uid }),
			newReservation("db-1", { uid: db1.uid, cancelling: true }),
		];
		const found = (await count({ reservations })).count;
		expect(found.healthy).toBe(1);
		expect(found.unavailable).toMatchObject([
			{ name: "db-0", why: "Reserved", holder: "drain-7f", sinceSeconds: 1_795_000_000 },
			{ name: "db-1", why: "Reserved" },
		]);
	});

	test("no pod that is reserved in the Lease of another budget, marked or not", async () => {
		const { count, otherLease, db0, db1 } = simulateCount();
		otherLease("zone-a", { reservations: [newReservation("db-0", { uid: db0.uid })] });
		otherLease("zone-b", { reservations: [newReservation("db-1", { uid: db1.uid, cancelling: true })] });
		expect((await count()).count.healthy).toBe(1);
	});

	test("a pod whose reservation names another uid", async () => {
		const { count } = simulateCount();
		expect((await count({ reservations: [newReservation("db-0", { uid: "of its predecessor" })] })).count.healthy).toBe(
			3,
		);
	});

	test("the scale of remembered controllers, and says which are gone for good", async () => {
		const { count, server } = simulateCount();
		const web = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "uid-of-web" };
		server.putController({ ...web, namespace: "shop", replicas: 2 });
		const gone = { ...web, name: "old", uid: "uid-of-old" };
		const { count: found, forgottenControllers } = await count({ controllers: [web, gone] });
		expect(found.expected).toEqual({ kind: "known", pods: 5 });
		expect([...forgottenControllers]).toEqual(["apps/StatefulSet/old"]);
	});

	test("nobody without their state, and whom it is reserved for", async () => {
		const { count, server, db0, db1, db2, see } = simulateCount();
		const status = { state: "Pending", message: "0/3 nodes are available", sinceSeconds: 7 };
		server.changePod(db0, { ready: false, status });
		server.changePod(db1, { terminating: true, status: { state: "Terminating", sinceSeconds: 9 } });
		server.changePod(db2, { ready: false, status });
		see();
		const reservations = [db1, db2].map(({ name, uid }) => newReservation(name, { uid, sinceSeconds: 8 }));
		const pod = { namespace: "shop" };
		expect((await count({ reservations })).count.unavailable).toEqual([
			{ ...pod, name: "db-1", why: "Terminating", holder: "drain-7f", state: "Terminating", sinceSeconds: 9 },
			{ ...pod, name: "db-2", why: "Reserved", holder: "drain-7f", state: "Reserved", sinceSeconds: 8 },
			{ ...pod, name: "db-0", why: "NotReady", ...status },
		]);
	});

	test("at most twenty unavailable pods for people, those that somebody holds first", async () => {
		const { count, server, see, db2 } = simulateCount();
		for (let index = 0; index < 30; index += 1) {
			server.createPod({ name: `web-${index}`, namespace: "shop", labels, ready: false });
		}
		see();
		const { unavailable: shown } = (await count({ reservations: [newReservation("db-2", { uid: db2.uid })] })).count;
		expect(shown).toHaveLength(20);
		expect(shown[0]).toMatchObject({ name: "db-2", holder: "drain-7f" });
	});
});

describe("countUnder() and the view", () => {
	test("needs no list where the view is as far as the Lease", async () => {
		const { count, requests } = simulateCount();
		expect(await count()).toMatchObject({ from: "view", observed: "" });
		expect(requests).not.toContain("list pods");
	});

	test("waits for what ended a reservation in its Lease: a view that lags has not seen that pod go", async () => {
		const { count, server, db0, see, live } = simulateCount();
		server.changePod(db0, { terminating: true });
		let found: number | undefined;
		const counting = count({ observed: String(server.revision) }).then(({ count: { healthy } }) => (found = healthy));
		await settle();
		expect(found).toBeUndefined();
		see();
		live();
		await counting;
		expect(found).toBe(2);
	});

	test("waits for what ended a reservation in another budget's Lease", async () => {
		const { count, server, otherLease, db0, see } = simulateCount();
		server.changePod(db0, { terminating: true });
		otherLease("zone-a", { observed: String(server.revision) });
		let found: number | undefined;
		const counting = count().then(({ count: { healthy } }) => (found = healthy));
		await settle();
		expect(found).toBeUndefined();
		see();
		await counting;
		expect(found).toBe(2);
	});

	test("comes from a list of the selected pods if the watch does not come that far in time", async () => {
		const { count, server, db0, clock, requests, pods } = simulateCount();
		server.changePod(db0, { terminating: true });
		const counting = count({ observed: String(server.revision) });
		await settle();
		clock.advance(500);
		expect(await counting).toMatchObject({ from: "list", observed: "", count: { healthy: 2 } });
		expect(requests).toContain("list pods");
		expect(pods.find(db0)?.terminating).toBe(false);
	});

	test("goes by a list where none comes that far, because etcd was restored, and says what it was", async () => {
		const { count, clock, now, lease } = simulateCount();
		const counting = count({ observed: "999999" });
		await settle();
		clock.advance(500);
		expect(await counting).toMatchObject({
			count: { healthy: 3 },
			restored: { leaseVersion: lease().resourceVersion, listedAt: now() },
		});
	});

	test("comes from a list if the view is lost after it was chosen", async () => {
		const { count, pods, faults, server, db0 } = simulateCount();
		faults.before = async ({ resource }) => {
			if (resource !== "fleet") return;
			await settle();
			pods.watchLost();
			server.changePod(db0, { ready: false });
		};
		expect(await count()).toMatchObject({ from: "list", count: { healthy: 2 } });
	});

	test("lists for a Lease that nobody has observed for yet, and says at which version", async () => {
		const { count, server, db0, now } = simulateCount();
		server.changePod(db0, { terminating: true });
		expect(await count({ observed: "" })).toMatchObject({ from: "list", observed: now(), count: { healthy: 2 } });
	});

	test("lists where the watch has shown no life for five seconds", async () => {
		const { count, server, db0, clock } = simulateCount();
		server.changePod(db0, { ready: false });
		clock.advance(5_000);
		expect(await count()).toMatchObject({ from: "list", observed: "", count: { healthy: 2 } });
	});

	test("reads the other Leases at least as new as its own was written", async () => {
		const { count, server, otherLease, db0, now } = simulateCount();
		otherLease("zone-a", {});
		const before = now();
		// The oldest list that the server may return.
		server.pickListVersion = (versions) => versions - 1;
		const written = otherLease("zone-b", { reservations: [newReservation("db-0", { uid: db0.uid })] });
		expect(Number(written.resourceVersion)).toBeGreaterThan(Number(before));
		expect((await count()).count.healthy).toBe(2);
	});
});

describe("countUnder() and budgets", () => {
	test("lists where the watch is alive and its last comparison began too long ago", async () => {
		const { count, server, compared, requests } = simulateCount();
		// The watch answers pings but does not show this budget.
		server.putBudget(memberBudget(newSpec({ maxUnavailable: 0 }), { namespace: "shop", name: "strict" }));
		compared.isRecent = false;
		expect((await count()).count.budgets.map(({ name }) => name.name)).toEqual(["db", "strict"]);
		expect(requests).toContain("list budgets");
	});

	test("reads the counted one from the server, and the others from a watch that lives", async () => {
		const { count, server, requests } = simulateCount();
		server.putBudget(memberBudget(newSpec({ maxUnavailable: 0 })));
		expect((await count()).count.budgets).toMatchObject([{ spec: { maxUnavailable: 0 } }]);
		expect(requests).toContain("get budgets");
		expect(requests).not.toContain("list budgets");
	});

	test("lists them where they are many, as they stand on the server", async () => {
		const { count, server, budgets, requests } = simulateCount();
		const names = Array.from({ length: 19 }, (_, index) => `other-${index}`);
		for (const name of names) server.putBudget(memberBudget(newSpec({ minAvailable: 1 }), { namespace: "shop", name }));
		for (const event of server.budgetEvents) budgets.apply(event);
		// The watch has not shown these yet.
		server.putBudget(memberBudget(newSpec({ maxUnavailable: 0 }), { namespace: "shop", name: "other-7" }));
		server.putBudget(memberBudget(newSpec({ maxUnavailable: 0 }), { namespace: "shop", name: "new" }));
		const found = (await count()).count.budgets;
		expect(found.map(({ name }) => name.name).toSorted()).toEqual(["db", "new", ...names].toSorted());
		expect(found.find(({ name }) => name.name === "other-7")).toMatchObject({ spec: { maxUnavailable: 0 } });
		expect(requests.filter((request) => request.includes("budgets"))).toEqual(["list budgets"]);
	});

	test("rejects where they are many and the list gets no answer: there is no guess", async () => {
		const { count, server, budgets, faults } = simulateCount();
		for (let index = 0; index < 19; index += 1)
			server.putBudget(memberBudget(newSpec({}), { namespace: "shop", name: `other-${index}` }));
		for (const event of server.budgetEvents) budgets.apply(event);
		faults.before = losing("list budgets");
		await expect(count()).rejects.toBe(unavailable);
	});

	test("reads each where they are few", async () => {
		const { count, server, budgets, requests } = simulateCount();
		for (let index = 0; index < 18; index += 1)
			server.putBudget(memberBudget(newSpec({}), { namespace: "shop", name: `other-${index}` }));
		for (const event of server.budgetEvents) budgets.apply(event);
		expect((await count()).count.budgets).toHaveLength(19);
		expect(requests).not.toContain("list budgets");
	});

	test("lists them where the watch is dead", async () => {
		const { count, server, clock } = simulateCount();
		server.putBudget(memberBudget(newSpec({ minAvailable: 1 }), { namespace: "shop", name: "new" }));
		clock.advance(5_000);
		expect((await count()).count.budgets.map(({ name }) => name.name)).toEqual(["db", "new"]);
	});

	test("has none where the counted one was deleted, whatever the watch still shows", async () => {
		const { count, server } = simulateCount();
		server.deleteBudget(budget);
		expect((await count()).count.budgets).toEqual([]);
	});

	test("leaves out those of other namespaces", async () => {
		const { count, server, budgets } = simulateCount();
		server.putBudget(memberBudget(newSpec({}), { namespace: "bank", name: "db" }));
		for (const event of server.budgetEvents) budgets.apply(event);
		expect((await count()).count.budgets.map(({ name }) => name)).toEqual([budget]);
	});
});

describe("countUnder() rejects", () => {
	const rows = ["list leases", "get fleet", "get budgets", "get scales"];
	for (const request of rows) {
		test(`where "${request}" gets no answer: there is no guess`, async () => {
			const { count, faults } = simulateCount();
			faults.before = losing(request);
			await expect(count()).rejects.toBe(unavailable);
		});
	}

	test("where the view is dead and no list can be had", async () => {
		const { count, faults, clock } = simulateCount();
		clock.advance(5_000);
		faults.before = losing("list pods");
		await expect(count()).rejects.toBe(unavailable);
	});

	// x-pdb, in contrast, allows the eviction if the pod cannot be read.
	test("where a candidate that the view does not have cannot be read", async () => {
		const { count, faults } = simulateCount();
		faults.before = losing("get pods");
		await expect(count({}, [{ namespace: "shop", name: "db-9", uid: "u" }])).rejects.toBe(unavailable);
	});

	test("where the Lease of another budget cannot be read, and names it and the cluster", async () => {
		const { count, server, otherLease } = simulateCount();
		const other = otherLease("zone-a", {});
		server.updateLease({ ...other, annotations: { ...other.annotations, [stateAnnotation]: "{}" } });
		await expect(count()).rejects.toThrow(GarbledLeaseError);
		await expect(count()).rejects.toThrow('of budget "shop/zone-a" in cluster "eu-1"');
	});
});
