import { describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { leaseName } from "../../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../../disruption/lease/lease-text.ts";
import type { AgentCluster } from "../../../proto/agent-cluster.ts";
import { budget } from "../../support/build-count.ts";
import { asks, atOnce, settle, simulateCluster, unavailable } from "../../support/simulated-agent.ts";

const alice = { user: "system:serviceaccount:xpdb-system:xpdb-operator", tokenId: "JTI=1" };
const wanted = [budget];

async function heldLease(options: Parameters<ReturnType<typeof simulateCluster>["newAgent"]>[0] = {}) {
	const world = simulateCluster();
	const agent = world.newAgent(options);
	const first = await agent.local.acquireHere(asks("first"), atOnce(), alice);
	if (first.kind !== "acquired") throw new Error("the Lease is free");
	agent.see();
	return { ...world, agent, first: first.acquisition };
}

describe("LocalCluster.listLeases()", () => {
	test("says who holds a Lease, whose token that is, for how long, until when, and how many wait", async () => {
		const { agent, clock, lease } = await heldLease();
		const gone = new AbortController();
		const second = agent.local.acquire(asks("second"), { wait: true, signal: gone.signal });
		await settle();
		clock.advance(3_000);
		agent.live();
		expect(await agent.local.listLeases(wanted)).toEqual([
			{
				name: leaseName(budget),
				budget,
				uid: lease().uid,
				transitions: 1,
				holding: { holder: "drain of first", account: alice.user, heldForMs: 3_000, expiresInMs: 7_000 },
				waiting: 1,
				reservations: [],
				reserved: 0,
			},
		]);
		gone.abort(new Error("gone"));
		await expect(second).rejects.toThrow("gone");
	});

	test("has nobody hold what was given back, and lets no holding end before it is over", async () => {
		const { agent, clock, first } = await heldLease();
		clock.advance(60_000);
		agent.live();
		expect(await agent.local.listLeases(wanted)).toMatchObject([{ holding: { expiresInMs: 0, heldForMs: 60_000 } }]);
		await agent.local.release(first);
		agent.see();
		expect(await agent.local.listLeases(wanted)).toMatchObject([{ holding: undefined, transitions: 1 }]);
	});

	test("names the pods that were granted, and since and until when, but neither ids nor nonces", async () => {
		const { agent, clock, first, newPod } = await heldLease();
		const pod = newPod("db-0");
		agent.see();
		const grant = { id: "grant-1", pod, resourceVersion: pod.resourceVersion };
		expect(await agent.local.commit(first, [grant], alice)).toEqual({ kind: "stood" });
		agent.see();
		const listed = await agent.local.listLeases(wanted);
		const sinceSeconds = clock.wallSeconds();
		expect(listed).toMatchObject([
			{
				holding: undefined,
				reserved: 1,
				reservations: [
					{
						pod: "db-0",
						uid: pod.uid,
						holder: "drain of first",
						account: alice.user,
						sinceSeconds,
						untilSeconds: sinceSeconds + 30,
						cancelling: false,
					},
				],
			},
		]);
		expect(JSON.stringify(listed)).not.toMatch(/grant-1|"first"/);
	});

	test("shows a Lease that cannot be read, with why", async () => {
		const { agent, server } = await heldLease();
		const found = server.leases.get(leaseName(budget));
		if (!found) throw new Error("no Lease");
		server.updateLease({ ...found, annotations: { ...found.annotations, [stateAnnotation]: "{" } });
		agent.see();
		expect(await agent.local.listLeases(wanted)).toMatchObject([
			{ budget, problem: expect.stringContaining("is not JSON"), holding: undefined, reserved: 0, transitions: 1 },
		]);
	});

	test("lists those that are asked for", async () => {
		const { agent } = await heldLease();
		const other = await agent.local.listLeases([{ namespace: "shop", name: "web" }, { namespace: "web" }]);
		expect(other).toEqual([]);
		expect(await agent.local.listLeases([{ namespace: "shop" }])).toHaveLength(1);
		expect(await agent.local.listLeases([])).toHaveLength(1);
	});

	test("says nothing at all where its watch is dead", async () => {
		const { agent, clock } = await heldLease();
		clock.advance(6_000);
		await expect(agent.local.listLeases(wanted)).rejects.toBeInstanceOf(AgentUnavailableError);
	});
});

describe("LocalCluster.listLeases() beside the agent that keeps the line", () => {
	async function beside(listLeases: AgentCluster["listLeases"]) {
		const world = await heldLease();
		const agent = world.newAgent({ lineHost: () => ({ listLeases }) as AgentCluster });
		agent.see();
		return { ...world, agent, host: world.agent };
	}

	test("has from there who waits and whose token holds it", async () => {
		const { agent, host } = await beside((scopes) => host.local.listLeasesHere(scopes));
		expect(await agent.local.listLeases(wanted)).toMatchObject([
			{ waiting: 0, holding: { holder: "drain of first", account: alice.user } },
		]);
	});

	test("does not know who waits where that one gives no answer", async () => {
		const { agent } = await beside(() => Promise.reject(unavailable));
		expect(await agent.local.listLeases(wanted)).toMatchObject([{ waiting: undefined, holding: {} }]);
	});
});
