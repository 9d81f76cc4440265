import { describe, expect, test } from "vitest";
import { idleMs, LeaseCleanup } from "../../../agent/leases/lease-cleanup.ts";
import { budgetViewOf, ObjectStore } from "../../../agent/views/object-views.ts";
import type { MemberBudget } from "../../../disruption/budget/cluster.ts";
import { leaseName } from "../../../disruption/lease/lease.ts";
import { budget, memberBudget, newSpec } from "../../support/build-count.ts";
import { asks, atOnce, simulateCluster, unavailable } from "../../support/simulated-agent.ts";

async function setUp() {
	const world = simulateCluster();
	const agent = world.newAgent();
	const pod = world.newPod("db-0");
	agent.see();
	const acquire = async (nonce: string) => {
		const outcome = await agent.local.acquire(asks(nonce), atOnce());
		if (outcome.kind !== "acquired") throw new Error("the Lease is free");
		return outcome.acquisition;
	};
	await agent.local.release(await acquire("first"));
	world.server.deleteBudget(budget);
	const elsewhere: MemberBudget[] = [];
	const other = { answers: true };
	const problems: unknown[] = [];
	const cleanup = new LeaseCleanup({
		api: agent.api,
		leases: () => world.server.leases.values(),
		budgets: budgetViewOf(new ObjectStore({ clock: world.clock, keyOf: ({ name }) => name.name }), {
			isRecent: true,
			wanted: () => undefined,
		}),
		members: async () => [
			agent.local,
			{
				listBudgets: async () => {
					if (!other.answers) throw unavailable;
					return { clusterId: "us", fleetHash: "", budgets: elsewhere };
				},
			},
		],
		clock: world.clock,
		report: (problem) => void problems.push(problem),
	});
	const cleanUpAfter = async (ms: number) => {
		world.clock.advance(ms);
		await cleanup.cleanUp();
	};
	await cleanUpAfter(0);
	const exists = () => world.server.leases.has(leaseName(budget));
	return { ...world, agent, pod, acquire, elsewhere, other, problems, cleanUpAfter, exists };
}

describe("LeaseCleanup", () => {
	test("deletes the Lease of a budget that no member has, once it was idle for a minute", async () => {
		const { cleanUpAfter, exists } = await setUp();
		await cleanUpAfter(idleMs - 1);
		expect(exists()).toBe(true);
		await cleanUpAfter(1);
		expect(exists()).toBe(false);
	});

	test("leaves a Lease alone whose budget exists here", async () => {
		const { cleanUpAfter, exists, server } = await setUp();
		server.putBudget(memberBudget(newSpec({ maxUnavailable: 1 })));
		await cleanUpAfter(idleMs);
		expect(exists()).toBe(true);
	});

	test("leaves a Lease alone whose budget another member has", async () => {
		const { cleanUpAfter, exists, elsewhere } = await setUp();
		elsewhere.push(memberBudget(newSpec({ maxUnavailable: 1 })));
		await cleanUpAfter(idleMs);
		expect(exists()).toBe(true);
	});

	test("leaves it alone where a member does not answer, and asks again a minute later", async () => {
		const { cleanUpAfter, exists, other, problems } = await setUp();
		other.answers = false;
		await cleanUpAfter(idleMs);
		expect(exists()).toBe(true);
		expect(problems).toEqual([unavailable]);
		other.answers = true;
		await cleanUpAfter(idleMs - 1);
		expect(exists()).toBe(true);
		await cleanUpAfter(1);
		expect(exists()).toBe(false);
	});

	test("leaves a Lease alone that is held", async () => {
		const { cleanUpAfter, exists, acquire } = await setUp();
		await acquire("second");
		await cleanUpAfter(0);
		await cleanUpAfter(idleMs);
		expect(exists()).toBe(true);
	});

	test("leaves a Lease alone that has a reservation", async () => {
		const { cleanUpAfter, exists, acquire, agent, pod, server } = await setUp();
		server.putBudget(memberBudget(newSpec({ maxUnavailable: 1 })));
		await agent.local.commit(await acquire("second"), [{ id: "id-0", pod, resourceVersion: pod.resourceVersion }]);
		server.deleteBudget(budget);
		await cleanUpAfter(0);
		await cleanUpAfter(idleMs);
		expect(exists()).toBe(true);
	});

	test("leaves no Lease to a caller that comes too late to end something", async () => {
		const { cleanUpAfter, exists, acquire, agent, server } = await setUp();
		const acquisition = await acquire("second");
		await agent.local.release(acquisition);
		await cleanUpAfter(0);
		await cleanUpAfter(idleMs);
		// The budget exists again, but only an acquisition makes a Lease for it.
		server.putBudget(memberBudget(newSpec({ maxUnavailable: 1 })));
		const { leaseUid, leaseTransitions: transitions } = acquisition;
		await agent.local.release(acquisition);
		for (const sent of [false, true]) await agent.local.cancel(budget, ["id-0"], { sent });
		await agent.local.endOnEvidence(budget);
		await agent.local.endSilent(budget);
		expect(await agent.local.endHolding({ budget, leaseUid, transitions })).toBe(false);
		await expect(agent.local.renew(acquisition)).rejects.toThrow("was lost: it does not exist any more");
		expect(exists()).toBe(false);
		await acquire("third");
		expect(exists()).toBe(true);
	});

	test("a write that comes in between wins, and starts the minute anew", async () => {
		const { cleanUpAfter, exists, agent, acquire, problems } = await setUp();
		agent.before = async ({ verb, resource }) => {
			if (`${verb} ${resource}` !== "delete leases") return;
			agent.before = () => undefined;
			await agent.local.release(await acquire("second"));
		};
		await cleanUpAfter(idleMs);
		expect(exists()).toBe(true);
		expect(problems).toEqual([]);
		await cleanUpAfter(0);
		await cleanUpAfter(idleMs - 1);
		expect(exists()).toBe(true);
		await cleanUpAfter(1);
		expect(exists()).toBe(false);
	});
});
