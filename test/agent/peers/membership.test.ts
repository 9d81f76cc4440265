import { describe, expect, test } from "vitest";
import { knownMembersLease } from "../../../agent/cluster-api/known-members-lease.ts";
import { KnownMembers, withKnownMembers } from "../../../agent/leases/known-members.ts";
import { leaseViewOf, ObjectStore } from "../../../agent/views/object-views.ts";
import { FleetsDifferError } from "../../../disruption/errors.ts";
import type { LeaseObject } from "../../../disruption/lease/lease-object.ts";
import { budget } from "../../support/build-count.ts";
import { asks, atOnce, simulateCluster } from "../../support/simulated-agent.ts";

/** Creates an agent whose cluster lists eu and us, and later only eu. */
async function shortened() {
	const { server, newAgent, newPod, clock, lease } = simulateCluster();
	const base = newAgent();
	const store = new ObjectStore<LeaseObject>({ clock, keyOf: ({ name }) => name });
	const known = new KnownMembers({
		api: base.api,
		leases: leaseViewOf(store),
		clock,
		cluster: "eu-1",
		fleetConfigMap: "xpdb-system/xpdb-fleet",
	});
	const agent = newAgent({ api: withKnownMembers(base.api, known), membership: known });
	const pod = newPod("db-0", { ready: true });
	agent.see();
	const eu = { id: "eu", name: "eu-1" };
	server.fleet = { version: "1", members: [eu, { id: "us", name: "us-1" }], forgotten: [] };
	const acquire = async (nonce: string) => {
		const outcome = await agent.local.acquire(asks(nonce, { candidates: [pod] }), atOnce());
		if (outcome.kind !== "acquired") throw new Error("not acquired");
		return outcome;
	};
	const before = await acquire("n1");
	const shorten = (): void => {
		server.fleet = { version: "2", members: [eu], forgotten: [] };
	};
	const forget = (): void => {
		server.fleet = { version: "3", members: [eu], forgotten: [{ id: "us" }] };
	};
	return { server, agent, before, acquire, shorten, forget, known, store, lease };
}

describe("An agent whose list leaves a known member out", () => {
	test("acquires nothing, and gives the Lease back", async () => {
		const { agent, before, acquire, shorten, forget } = await shortened();
		await agent.local.release(before.acquisition);
		shorten();
		await expect(acquire("n2")).rejects.toBeInstanceOf(FleetsDifferError);
		await expect(acquire("n2")).rejects.toThrow('member "us-1" (id us, known since ');
		forget();
		expect((await acquire("n3")).count.clusterId).toBe("eu");
	});

	test("counts nothing and lists no budgets", async () => {
		const { agent, before, shorten } = await shortened();
		shorten();
		await expect(agent.local.count(before.acquisition, asks("n1"))).rejects.toBeInstanceOf(FleetsDifferError);
		await expect(agent.local.look(asks("n1"))).rejects.toBeInstanceOf(FleetsDifferError);
		await expect(agent.local.listBudgets([])).rejects.toBeInstanceOf(FleetsDifferError);
	});

	test("commits nothing once somebody greeted that it leaves out", async () => {
		const { server, agent, before, known } = await shortened();
		await known.learn([{ id: "ap", name: "ap-1" }]);
		await expect(agent.local.commit(before.acquisition, [])).rejects.toThrow('member "ap-1" (id ap, known since ');
		server.fleet = { ...server.fleet, version: "2", forgotten: [{ id: "ap" }] };
		expect(await agent.local.commit(before.acquisition, [])).toEqual({ kind: "stood" });
	});

	test("still lets go of what it holds", async () => {
		const { agent, before, shorten, lease } = await shortened();
		shorten();
		await agent.local.renew(before.acquisition);
		await agent.local.cancel(budget, ["none"], { sent: true });
		await agent.local.release(before.acquisition);
		expect(lease().holder).toBe("");
	});

	test("describes itself, with the name of who is missing", async () => {
		const { agent, shorten, forget } = await shortened();
		expect(await agent.local.describe()).not.toHaveProperty("unresolved");
		shorten();
		const described = await agent.local.describe();
		expect(described).toMatchObject({ members: [{ id: "eu" }], unresolved: [{ id: "us", name: "us-1" }] });
		expect(described).not.toHaveProperty("forgotten");
		forget();
		expect(await agent.local.describe()).not.toHaveProperty("unresolved");
		expect(await agent.local.describe()).toMatchObject({ forgotten: [{ id: "us" }] });
	});
});

test("leaseViewOf() shows the Lease of known members by name, and not among those of budgets", async () => {
	const { server, store } = await shortened();
	store.replace([...server.leases.values()], String(server.revision));
	const view = leaseViewOf(store);
	expect(view.find(knownMembersLease)?.name).toBe(knownMembersLease);
	expect([...view.leases()].map(({ name }) => name)).not.toContain(knownMembersLease);
	expect([...view.leases()]).toHaveLength(1);
});
