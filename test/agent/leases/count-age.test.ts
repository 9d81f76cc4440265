import { describe, expect, test } from "vitest";
import type { AcquireRequest, Acquisition } from "../../../disruption/budget/cluster.ts";
import { asks, atOnce, type SimulatedAgent, simulateCluster } from "../../support/simulated-agent.ts";

const tooOld = 'the count of cluster "eu-1" for budget "shop/db" is older than 20 s, so it may be out of date';

async function setUp() {
	const world = simulateCluster();
	const pod = world.newPod("db-0");
	const agent = world.newAgent();
	const sibling = world.newAgent();
	const acquire = async (nonce: string, more: Partial<AcquireRequest> = {}, by = agent): Promise<Acquisition> => {
		const outcome = await by.local.acquire(asks(nonce, more), atOnce());
		if (outcome.kind !== "acquired") throw new Error(`held by ${outcome.holder}`);
		return outcome.acquisition;
	};
	const pass = (ms: number): void => {
		world.clock.advance(ms);
		for (const each of [agent, sibling]) each.see();
	};
	await agent.local.release(await acquire("earlier"));
	pass(0);
	const grant = { id: "id-0", pod, resourceVersion: pod.resourceVersion };
	const commit = (acquisition: Acquisition, by: SimulatedAgent = agent) => by.local.commit(acquisition, [grant]);
	return { ...world, agent, sibling, acquire, commit, pass };
}

describe.each([
	["written", { mayBeUnwritten: false }],
	["not written", { mayBeUnwritten: true }],
])("a count under a hold that was %s", (_, hold) => {
	test("is committed for 20 s, and not later", async () => {
		const { acquire, commit, lease, pass } = await setUp();
		const late = await acquire("n", hold);
		pass(20_001);
		expect(await commit(late)).toEqual({ kind: "lost", reason: tooOld });
		expect(lease().state.reservations).toEqual([]);
		const inTime = await acquire("m", hold);
		pass(20_000);
		expect(await commit(inTime)).toEqual({ kind: "stood" });
	});
});

describe("a count under a Lease that is held", () => {
	test("grows no younger by renewals", async () => {
		const { acquire, agent, commit, pass } = await setUp();
		const acquisition = await acquire("n");
		for (let renewal = 0; renewal < 7; renewal += 1) {
			pass(3_000);
			await agent.local.renew(acquisition);
		}
		expect(await commit(acquisition)).toEqual({ kind: "lost", reason: tooOld });
	});

	test("is as old as its last count, which has an id", async () => {
		const { acquire, agent, commit, pass } = await setUp();
		const acquisition = await acquire("n");
		pass(15_000);
		const again = { ...acquisition, countId: "second" };
		await agent.local.count(again, asks("n"));
		pass(15_000);
		expect(await commit(acquisition)).toEqual({ kind: "lost", reason: tooOld });
		expect(await commit(again)).toEqual({ kind: "stood" });
	});

	test("is as old as the first of its doubles", async () => {
		const { acquire, agent, commit, pass } = await setUp();
		const acquisition = await acquire("n");
		const again = { ...acquisition, countId: "second" };
		await agent.local.count(again, asks("n"));
		pass(20_001);
		await acquire("n");
		await agent.local.count(again, asks("n"));
		for (const each of [acquisition, again]) expect(await commit(each)).toEqual({ kind: "lost", reason: tooOld });
	});

	test("is as old as the last one of a plugin of 0.1, which gives no ids", async () => {
		const { acquire, agent, commit, pass } = await setUp();
		const acquisition = await acquire("n");
		pass(15_000);
		await agent.local.count(acquisition, asks("n"));
		pass(15_000);
		expect(await commit(acquisition)).toEqual({ kind: "stood" });
	});

	test("is not committed by an agent that was not asked for it", async () => {
		const { acquire, commit, lease, sibling } = await setUp();
		const acquisition = await acquire("n");
		expect(await commit(acquisition, sibling)).toMatchObject({
			kind: "lost",
			reason: expect.stringContaining("another agent took it"),
		});
		expect(lease().state.reservations).toEqual([]);
	});

	test("stands for whoever asks again after its commit was written", async () => {
		const { acquire, commit, pass, sibling } = await setUp();
		const acquisition = await acquire("n");
		expect(await commit(acquisition)).toEqual({ kind: "stood" });
		pass(30_000);
		expect(await commit(acquisition, sibling)).toEqual({ kind: "stood" });
	});
});
