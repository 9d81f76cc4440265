import { describe, expect, test } from "vitest";
import type { AcquireOutcome, AcquireRequest } from "../../../disruption/budget/cluster.ts";
import { leaseName } from "../../../disruption/lease/lease.ts";
import { budget } from "../../support/build-count.ts";
import {
	asks,
	atOnce,
	losing,
	type SimulatedAgent,
	simulateCluster,
	unavailable,
} from "../../support/simulated-agent.ts";

const other = { namespace: "shop", name: "zone" };

async function setUp() {
	const world = simulateCluster();
	const [pod, second] = [world.newPod("db-0"), world.newPod("db-1")];
	const agent = world.newAgent();
	const sibling = world.newAgent();
	await agent.local.release(acquired(await agent.local.acquire(asks("earlier"), atOnce())).acquisition);
	for (const each of [agent, sibling]) each.see();
	agent.requests.length = 0;
	const acquire = async (nonce: string, by: SimulatedAgent = agent, more: Partial<AcquireRequest> = {}) =>
		acquired(await by.local.acquire(asks(nonce, { mayBeUnwritten: true, ...more }), atOnce()));
	const grant = { id: "id-0", pod, resourceVersion: pod.resourceVersion };
	const writes = (by: SimulatedAgent = agent) => by.requests.filter((request) => request.startsWith("update leases"));
	return { ...world, pod, second, agent, sibling, acquire, grant, writes };
}

function acquired(outcome: AcquireOutcome): Extract<AcquireOutcome, { kind: "acquired" }> {
	if (outcome.kind !== "acquired") throw new Error(`held by ${outcome.holder}`);
	return outcome;
}

describe("a hold that is not written", () => {
	test("counts, and takes the Lease and reserves in one write", async () => {
		const { acquire, agent, grant, lease, writes } = await setUp();
		const { acquisition, count } = await acquire("n");
		expect(count).toMatchObject({ healthy: 2 });
		expect({ writes: writes(), holder: lease().holder }).toEqual({ writes: [], holder: "" });
		expect(await agent.local.commit(acquisition, [grant])).toEqual({ kind: "stood" });
		expect(writes()).toHaveLength(1);
		expect(lease()).toMatchObject({
			holder: "",
			transitions: 2,
			state: { nonce: "n", phase: "committed", reservations: [{ id: "id-0", holder: "drain of n" }] },
		});
	});

	test("costs nothing to give back", async () => {
		const { acquire, agent } = await setUp();
		const { acquisition } = await acquire("n");
		agent.requests.length = 0;
		await agent.local.release(acquisition);
		expect(agent.requests).toEqual([]);
	});

	test("keeps nobody away, and is lost where somebody came in between", async () => {
		const { acquire, agent, sibling, grant, second, lease } = await setUp();
		const first = await acquire("n");
		const later = await acquire("m", sibling);
		const grants = [{ id: "id-1", pod: second, resourceVersion: second.resourceVersion }];
		expect(await sibling.local.commit(later.acquisition, grants)).toEqual({ kind: "stood" });
		agent.see();
		expect(await agent.local.commit(first.acquisition, [grant])).toMatchObject({ kind: "lost" });
		expect(lease().state.reservations.map(({ id }) => id)).toEqual(["id-1"]);
	});

	test("is lost where somebody came in between who was granted nothing, or only ended a reservation", async () => {
		const { acquire, agent, sibling, grant, server, second, lease } = await setUp();
		const reserved = await acquire("k");
		const grants = [{ id: "id-1", pod: second, resourceVersion: second.resourceVersion }];
		await agent.local.commit(reserved.acquisition, grants);
		for (const each of [agent, sibling]) each.see();
		const nothing = await acquire("n");
		await sibling.local.commit((await acquire("m", sibling)).acquisition, []);
		expect(await agent.local.commit(nothing.acquisition, [grant])).toMatchObject({ kind: "lost" });
		server.changePod(second, { terminating: true });
		for (const each of [agent, sibling]) each.see();
		const ended = await acquire("o");
		await sibling.local.endOnEvidence(budget);
		expect(lease().state.reservations).toEqual([]);
		expect(await agent.local.commit(ended.acquisition, [grant])).toMatchObject({ kind: "lost" });
	});

	test("stands for a commit that is repeated, and not by the other agent, which has not counted", async () => {
		const { acquire, agent, sibling, grant, lease } = await setUp();
		const { acquisition } = await acquire("n");
		expect(await sibling.local.commit(acquisition, [grant])).toMatchObject({ kind: "lost" });
		expect(lease().state.reservations).toEqual([]);
		agent.after = losing("update leases");
		await expect(agent.local.commit(acquisition, [grant])).rejects.toBe(unavailable);
		agent.after = () => undefined;
		sibling.see();
		expect(await sibling.local.commit(acquisition, [grant])).toMatchObject({ kind: "lost" });
		expect(await agent.local.commit(acquisition, [grant])).toEqual({ kind: "stood" });
		expect(lease().transitions).toBe(2);
	});

	test("does not stand after a restore that gave back the very Lease that was counted from", async () => {
		const { acquire, agent, sibling, grant, second, server, lease } = await setUp();
		const backup = server.snapshot();
		server.revision += 100;
		const { acquisition } = await acquire("n");
		const grants = [{ id: "id-1", pod: second, resourceVersion: second.resourceVersion }];
		const later = await acquire("m", sibling);
		expect(await sibling.local.commit(later.acquisition, grants)).toEqual({ kind: "stood" });
		server.restore(backup);
		agent.connection = 2;
		expect(await agent.local.commit(acquisition, [grant])).toEqual({
			kind: "lost",
			reason:
				'the count of cluster "eu-1" for budget "shop/db" is lost: another agent took it, ' +
				"or this agent's connection to the API server has closed since",
		});
		expect(lease().state.reservations).toEqual([]);
	});

	test("is counted anew by a request that is doubled, under a name of its own", async () => {
		const { acquire, agent, grant } = await setUp();
		const first = await acquire("n");
		agent.connection = 2;
		const second = await acquire("n");
		expect(await agent.local.commit(first.acquisition, [grant])).toMatchObject({ kind: "lost" });
		expect(await agent.local.commit(second.acquisition, [grant])).toEqual({ kind: "stood" });
	});

	test("is nothing while the connection to the API server has still to be made", async () => {
		const { acquire, agent } = await setUp();
		agent.connection = undefined;
		agent.after = async () => void (agent.connection ??= 2);
		expect((await acquire("n")).acquisition.unwritten).toBeUndefined();
	});

	test("does not stand where a candidate that was not ready is, and another pod is not any more", async () => {
		const { acquire, agent, pod, second, server, newPod } = await setUp();
		const unready = newPod("db-2", { ready: false });
		agent.see();
		const { acquisition, count } = await acquire("n", agent, { candidates: [unready] });
		expect(count.healthy).toBe(2);
		server.changePod(second, { ready: false });
		const ready = server.changePod(unready, { ready: true });
		agent.see();
		const grant = { id: "id-2", pod: ready, resourceVersion: ready.resourceVersion };
		expect(await agent.local.commit(acquisition, [grant])).toMatchObject({
			kind: "lost",
			reason: expect.stringContaining("fewer pods"),
		});
		expect(pod.ready).toBe(true);
	});

	test("does not stand where a pod that was counted was reserved under another budget meanwhile", async () => {
		const { acquire, agent, sibling, grant, second, server } = await setUp();
		const { acquisition } = await acquire("n");
		server.putBudget({ name: other, spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 } });
		sibling.see();
		const beside = acquired(await sibling.local.acquire({ ...asks("m"), budget: other }, atOnce()));
		const grants = [{ id: "id-1", pod: second, resourceVersion: second.resourceVersion }];
		expect(await sibling.local.commit(beside.acquisition, grants)).toEqual({ kind: "stood" });
		agent.see();
		expect(await agent.local.commit(acquisition, [grant])).toMatchObject({
			kind: "lost",
			reason: expect.stringContaining('fewer pods of budget "shop/db" are healthy in cluster "eu-1" than were counted'),
		});
	});

	test("stands where its own pods are reserved under their other budgets", async () => {
		const { acquire, agent, sibling, grant, server } = await setUp();
		server.putBudget({ name: other, spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 } });
		for (const each of [agent, sibling]) each.see();
		const { acquisition } = await acquire("n");
		const beside = acquired(await sibling.local.acquire({ ...asks("n"), budget: other }, atOnce()));
		expect(await sibling.local.commit(beside.acquisition, [grant])).toEqual({ kind: "stood" });
		agent.see();
		expect(await agent.local.commit(acquisition, [grant])).toEqual({ kind: "stood" });
	});

	test("does not stand where a pod failed meanwhile", async () => {
		const { acquire, agent, grant, second, server } = await setUp();
		const { acquisition } = await acquire("n");
		server.changePod(second, { ready: false });
		agent.see();
		expect(await agent.local.commit(acquisition, [grant])).toMatchObject({ kind: "lost" });
	});

	test("is not to be had by an acquisition that names what it did not count from", async () => {
		const { acquire, agent, grant, lease } = await setUp();
		const { acquisition } = await acquire("n");
		if (!acquisition.unwritten) throw new Error("it was written");
		const forged = { ...acquisition, unwritten: { ...acquisition.unwritten, lease: "another" } };
		expect(await agent.local.commit(forged, [grant])).toMatchObject({ kind: "lost" });
		expect(await agent.local.commit({ ...acquisition, leaseTransitions: 9 }, [grant])).toMatchObject({ kind: "lost" });
		expect(await agent.local.commit({ ...acquisition, leaseUid: "another" }, [grant])).toMatchObject({ kind: "lost" });
		expect(lease().state.reservations).toEqual([]);
	});

	test("is nothing for who does not ask for it, waits in line, or finds the Lease held", async () => {
		const { agent, acquire, lease } = await setUp();
		const { acquisition } = await acquire("n", agent, { mayBeUnwritten: false });
		expect(acquisition.unwritten).toBeUndefined();
		expect(lease().holder).toBe("drain of n");
		expect(await agent.local.acquire(asks("m", { mayBeUnwritten: true }), atOnce())).toMatchObject({ kind: "held" });
		const inLine = agent.local.acquire(asks("o", { mayBeUnwritten: true }), { ...atOnce(), wait: true });
		await agent.local.release(acquisition);
		expect(acquired(await inLine).acquisition.unwritten).toBeUndefined();
	});

	test("is nothing where the watch on Leases is not alive, or no view has counted under the Lease", async () => {
		const { agent, acquire, clock, server } = await setUp();
		clock.advance(6_000);
		expect((await acquire("n")).acquisition.unwritten).toBeUndefined();
		const fresh = simulateCluster();
		fresh.newPod("db-0");
		const first = fresh.newAgent();
		const asked = asks("n", { mayBeUnwritten: true });
		expect(acquired(await first.local.acquire(asked, atOnce())).acquisition.unwritten).toBeUndefined();
		expect(server.leases.has(leaseName(budget)) && agent.requests.length > 0).toBe(true);
	});
});
