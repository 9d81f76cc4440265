// Tests an `observed` version and evidence from before a restore of etcd. The restored API server has lost that history.
import { describe, expect, test } from "vitest";
import type { BudgetName } from "../../../disruption/budget/budget.ts";
import { annotationsOf, parseLease, withObserved } from "../../../disruption/lease/lease.ts";
import { budget, memberBudget, newSpec } from "../../support/build-count.ts";
import { asks, atOnce, settle, simulateCluster } from "../../support/simulated-agent.ts";

const zone: BudgetName = { namespace: "shop", name: "zone" };

/** Creates two healthy pods. The Leases of `budgets` have `observed` version 5000, from an etcd that was since restored. */
async function restored(budgets: readonly BudgetName[] = [budget]) {
	const world = simulateCluster();
	world.server.putBudget(memberBudget(newSpec({ maxUnavailable: 1 }), zone));
	for (const name of ["db-0", "db-1"]) world.newPod(name);
	const agent = world.newAgent();
	for (const name of [budget, zone]) {
		const outcome = await agent.local.acquire(asks("before", { budget: name }), atOnce());
		if (outcome.kind !== "acquired") throw new Error("the Lease is free");
		await agent.local.release(outcome.acquisition);
	}
	for (const name of budgets) {
		const future = withObserved(world.lease(name), "5000");
		const object = world.server.leases.get(future.name);
		if (object) world.server.updateLease({ ...object, annotations: annotationsOf(future) });
	}
	agent.see();
	const acquire = async () => {
		const outcome = agent.local.acquire(asks("after"), atOnce());
		await settle();
		// The view gets some time to reach the version on its own.
		world.clock.advance(500);
		return outcome;
	};
	const observed = (name: BudgetName = budget) => world.lease(name).state.observed;
	return { ...world, agent, acquire, observed };
}

describe("an `observed` from before a restore", () => {
	test("is replaced by that of a list, and the count goes by the list", async () => {
		const { acquire, observed, agent, server } = await restored();
		const version = String(server.revision + 1);
		expect(await acquire()).toMatchObject({ kind: "acquired", count: { healthy: 2 } });
		expect(observed()).toBe(version);
		expect(agent.problems).toMatchObject([
			{
				message: `Lease of budget "shop/db" in cluster "eu-1" records pod version 5000, but its API server lists version ${version} (was etcd restored?): counting from that list`,
			},
		]);
	});

	test("costs the next count nothing", async () => {
		const { acquire, agent } = await restored();
		const first = await acquire();
		if (first.kind !== "acquired") throw new Error("the Lease is free");
		await agent.local.release(first.acquisition);
		agent.see();
		const before = agent.requests.length;
		expect(await agent.local.acquire(asks("next"), atOnce())).toMatchObject({ kind: "acquired" });
		expect(agent.requests.slice(before)).not.toContain("list pods");
	});

	test("stays where the Lease was written since it was read, for the next count to judge", async () => {
		const { acquire, observed, agent, lease, newAgent, clock } = await restored();
		const other = newAgent();
		agent.before = async ({ verb, resource }) => {
			if (verb !== "list" || resource !== "pods") return;
			agent.before = () => undefined;
			const { uid, transitions, state } = lease();
			await other.local.renew({ budget, leaseUid: uid, leaseTransitions: transitions, nonce: state.nonce });
		};
		const outcome = await acquire();
		if (outcome.kind !== "acquired") throw new Error("the Lease is free");
		expect(observed()).toBe("5000");
		agent.see();
		const again = agent.local.count(outcome.acquisition, asks("after"));
		await settle();
		clock.advance(1_000);
		expect(await again).toMatchObject({ healthy: 2 });
		expect(observed()).not.toBe("5000");
	});

	test("is left out in a Lease that is not held, and stays there", async () => {
		const { acquire, observed, agent } = await restored([zone]);
		const before = observed();
		expect(await acquire()).toMatchObject({ kind: "acquired", count: { healthy: 2 } });
		expect([observed(), observed(zone)]).toEqual([before, "5000"]);
		expect(agent.problems).toMatchObject([{ message: expect.stringContaining('budget "shop/zone"') }]);
	});

	test("is not what a view is behind that lags: its list reaches it", async () => {
		const { acquire, observed, server, agent, lease } = await restored([]);
		const pod = server.pods()[0];
		if (!pod) throw new Error("there are pods");
		const changed = server.changePod(pod, { ready: false });
		const object = server.leases.get(lease().name);
		const version = String(server.revision);
		if (object)
			server.updateLease({ ...object, annotations: annotationsOf(withObserved(parseLease(object), version)) });
		expect(await acquire()).toMatchObject({ kind: "acquired", count: { healthy: 1 } });
		expect(observed()).toBe(version);
		expect([agent.problems, changed]).toMatchObject([[], expect.anything()]);
	});
});

describe("evidence that a dead watch has shown, from before a restore", () => {
	/** Before etcd was restored, one agent saw db-0 terminate. Now db-0 is alive and reserved. */
	async function reserved() {
		const world = simulateCluster();
		const pod = world.newPod("db-0");
		const [agent, other] = [world.newAgent(), world.newAgent()];
		const backup = world.server.snapshot();
		world.server.changePod(pod, { terminating: true });
		agent.see();
		agent.pods.watchLost();
		world.server.restore(backup);
		const outcome = await other.local.acquire(asks("other"), atOnce());
		if (outcome.kind !== "acquired") throw new Error("the Lease is free");
		other.see();
		await other.local.commit(outcome.acquisition, [{ id: "id-0", pod, resourceVersion: pod.resourceVersion }]);
		return { ...world, agent, pod };
	}

	test("ends nothing at an acquire: the pod may be alive", async () => {
		const { agent, lease } = await reserved();
		expect(await agent.local.acquire(asks("next"), atOnce())).toMatchObject({
			kind: "acquired",
			count: { healthy: 0 },
		});
		expect(lease().state.reservations).toHaveLength(1);
	});

	test("ends nothing for a sweep either, until the watch is back", async () => {
		const { agent, lease, server, pod } = await reserved();
		await agent.local.endOnEvidence(budget);
		expect(lease().state.reservations).toHaveLength(1);
		server.changePod(pod, { terminating: true });
		agent.pods.reset();
		agent.pods.replace(server.listPods().pods, String(server.revision));
		await agent.local.endOnEvidence(budget);
		expect(lease().state.reservations).toHaveLength(1);
		agent.live();
		await agent.local.endOnEvidence(budget);
		expect(lease().state).toMatchObject({ reservations: [], observed: String(server.revision - 1) });
	});
});
