import { describe, expect, test } from "vitest";
import { LeaseLostError } from "../../../disruption/errors.ts";
import { budget } from "../../support/build-count.ts";
import { asks, atOnce, simulateCluster } from "../../support/simulated-agent.ts";

/** Creates a cluster in which "first" holds the Lease and wants to evict db-0. */
async function held() {
	const world = simulateCluster();
	const agent = world.newAgent();
	const pod = world.newPod("db-0");
	agent.see();
	const first = await agent.local.acquire(asks("first"), atOnce());
	if (first.kind !== "acquired") throw new Error("the Lease is free");
	const { leaseUid, leaseTransitions: transitions } = first.acquisition;
	const grant = (id: string) => ({ id, pod, resourceVersion: pod.resourceVersion });
	return { ...world, agent, pod, grant, first: first.acquisition, holding: { budget, leaseUid, transitions } };
}

describe("LocalCluster.endHolding()", () => {
	test("ends the hold: a late commit, renewal or count of its holder finds that it does not stand", async () => {
		const { agent, first, holding, grant, lease } = await held();
		expect(await agent.local.endHolding(holding)).toBe(true);
		expect(lease()).toMatchObject({ holder: "", state: { phase: "released", reservations: [] } });
		expect(await agent.local.commit(first, [grant("late")])).toMatchObject({ kind: "lost" });
		await expect(agent.local.renew(first)).rejects.toBeInstanceOf(LeaseLostError);
		expect(lease().state.reservations).toEqual([]);
	});

	test("lets a late commit write nothing into what the next one holds", async () => {
		const { agent, first, holding, grant, lease } = await held();
		await agent.local.endHolding(holding);
		const second = await agent.local.acquire(asks("second"), atOnce());
		expect(second).toMatchObject({ kind: "acquired", acquisition: { leaseTransitions: 2 } });
		expect(await agent.local.commit(first, [grant("late")])).toMatchObject({ kind: "lost" });
		// A late duplicate of its acquire does not restore the hold either.
		expect(await agent.local.acquire(asks("first"), atOnce())).toMatchObject({ kind: "held" });
		expect(lease()).toMatchObject({ holder: "drain of second", state: { reservations: [] } });
	});

	test("keeps what was granted: somebody may be about to evict it", async () => {
		const { agent, first, grant, lease } = await held();
		expect(await agent.local.commit(first, [grant("grant-1")])).toEqual({ kind: "stood" });
		await agent.local.acquire(asks("second"), atOnce());
		const { uid: leaseUid, transitions } = lease();
		expect(await agent.local.endHolding({ budget, leaseUid, transitions })).toBe(true);
		expect(lease().state.reservations).toMatchObject([{ id: "grant-1", cancelling: false }]);
		expect(await agent.local.confirm(budget, ["grant-1"])).toBe(true);
	});

	test("ends no other hold than the one that was named, and makes no Lease", async () => {
		const { agent, holding, lease, server } = await held();
		expect(await agent.local.endHolding({ ...holding, transitions: 2 })).toBe(false);
		expect(await agent.local.endHolding({ ...holding, leaseUid: "another" })).toBe(false);
		expect(lease().holder).toBe("drain of first");
		expect(await agent.local.endHolding(holding)).toBe(true);
		expect(await agent.local.endHolding(holding)).toBe(false);
		const other = { namespace: "shop", name: "never-used" };
		expect(await agent.local.endHolding({ ...holding, budget: other })).toBe(false);
		expect(server.leases.size).toBe(1);
	});
});
