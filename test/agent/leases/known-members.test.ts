import { describe, expect, test } from "vitest";
import { ConflictError } from "../../../agent/cluster-api/cluster-api.ts";
import {
	knownMembersAnnotation,
	knownMembersLease,
	parseKnownMembers,
} from "../../../agent/cluster-api/known-members-lease.ts";
import { KnownMembers, withKnownMembers } from "../../../agent/leases/known-members.ts";
import { leaseViewOf, ObjectStore } from "../../../agent/views/object-views.ts";
import { AgentUnavailableError, FleetsDifferError, GarbledLeaseError } from "../../../disruption/errors.ts";
import type { DeclaredFleet } from "../../../disruption/budget/fleet.ts";
import { namespaceLabel } from "../../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../../disruption/lease/lease-object.ts";
import { type ApiCall, clusterApi, SimulatedApiServer } from "../../explore/simulated-api.ts";
import { createManualClock } from "../../support/manual-clock.ts";

type Before = (call: Omit<ApiCall<unknown>, "execute">) => void | Promise<void>;

function simulate() {
	const clock = createManualClock();
	const server = new SimulatedApiServer({ clusterId: "id-1" });
	let version = 0;
	const declare = (ids: readonly string[], forgotten: readonly string[] = []): void => {
		version += 1;
		const named = (id: string) => ({ id, name: `cluster ${id}` });
		server.fleet = { version: String(version), members: ids.map(named), forgotten: forgotten.map((id) => ({ id })) };
	};
	const newAgent = () => {
		const agent = { before: (() => undefined) as Before, requests: [] as string[] };
		const api = clusterApi(server, async (call) => {
			await agent.before(call);
			agent.requests.push(`${call.verb} ${call.resource}`);
			return call.execute();
		});
		const store = new ObjectStore<LeaseObject>({ clock, keyOf: ({ name }) => name });
		store.replace([...server.leases.values()], String(server.revision));
		store.signOfLife(clock.now());
		const known = new KnownMembers({
			api,
			leases: leaseViewOf(store),
			clock,
			cluster: "eu-1",
			fleetConfigMap: "xpdb-system/xpdb-fleet",
		});
		const see = (): void => {
			for (const event of server.leaseEvents) store.apply(event);
			store.signOfLife(clock.now());
		};
		const checked = withKnownMembers(api, known);
		return Object.assign(agent, { known, store, see, getFleet: () => checked.getFleet() });
	};
	const stored = (): readonly string[] => {
		const lease = server.leases.get(knownMembersLease);
		return lease ? parseKnownMembers(lease, "eu-1").map(({ id }) => id) : [];
	};
	const edit = (text: string): void => {
		const lease = server.leases.get(knownMembersLease);
		if (!lease) throw new Error("there is no Lease");
		server.updateLease({ ...lease, annotations: { [knownMembersAnnotation]: text } });
	};
	return { clock, server, declare, newAgent, stored, edit };
}

const membersOf = ({ members }: DeclaredFleet): readonly string[] => members.map(({ id }) => id);

describe("KnownMembers", () => {
	test("are written before a list is first obeyed", async () => {
		const { declare, newAgent, stored, server } = simulate();
		declare(["id-1", "id-2"]);
		const agent = newAgent();
		const lost = new AgentUnavailableError("lost", "eu-1");
		agent.before = ({ verb }) => {
			if (verb === "create") throw lost;
		};
		await expect(agent.getFleet()).rejects.toBe(lost);
		agent.before = () => undefined;
		expect(membersOf(await agent.getFleet())).toEqual(["id-1", "id-2"]);
		expect(stored()).toEqual(["id-1", "id-2"]);
		expect(server.leases.get(knownMembersLease)?.labels).toEqual({ [namespaceLabel]: "" });
	});

	test("cost nothing while the list stays", async () => {
		const { declare, newAgent } = simulate();
		declare(["id-1", "id-2"]);
		const agent = newAgent();
		await agent.getFleet();
		agent.see();
		agent.requests.length = 0;
		await Promise.all([agent.getFleet(), agent.getFleet()]);
		expect(agent.requests).toEqual(["get fleet", "get fleet"]);
	});

	test("refuse a list that became shorter, name who is missing and say what to do", async () => {
		const { declare, newAgent } = simulate();
		declare(["id-1", "id-2", "id-3"]);
		const agent = newAgent();
		await agent.getFleet();
		declare(["id-1"], ["id-2"]);
		await expect(agent.getFleet()).rejects.toBeInstanceOf(FleetsDifferError);
		await expect(agent.getFleet()).rejects.toThrow(
			/in cluster "eu-1": member "cluster id-3" \(id id-3, known since \d{4}-\d\d-\d\d\) is missing in ConfigMap xpdb-system\/xpdb-fleet\. .* add "- id: id-3" under forgotten in every cluster$/,
		);
	});

	test("are counted as listed, forgotten or missing", async () => {
		const { declare, newAgent } = simulate();
		declare(["id-1", "id-2", "id-3", "id-4"]);
		const { known, getFleet } = newAgent();
		expect(known.census).toBeUndefined();
		await getFleet();
		expect(known.census).toEqual({ listed: 4, forgotten: 0, missing: 0 });
		declare(["id-1", "id-2"], ["id-3"]);
		await expect(getFleet()).rejects.toThrow("cluster id-4");
		expect(known.census).toEqual({ listed: 2, forgotten: 1, missing: 1 });
	});

	test("are settled by forgetting, or by listing again", async () => {
		const { declare, newAgent } = simulate();
		declare(["id-1", "id-2", "id-3"]);
		const agent = newAgent();
		await agent.getFleet();
		declare(["id-1"], ["id-2", "id-3"]);
		expect(membersOf(await agent.getFleet())).toEqual(["id-1"]);
		declare(["id-1"], ["id-2"]);
		await expect(agent.getFleet()).rejects.toThrow("id-3");
		declare(["id-1", "id-3"], ["id-2"]);
		expect(membersOf(await agent.getFleet())).toEqual(["id-1", "id-3"]);
	});

	test("are remembered by an agent that starts anew", async () => {
		const { declare, newAgent } = simulate();
		declare(["id-1", "id-2"]);
		await newAgent().getFleet();
		declare(["id-1"]);
		await expect(newAgent().getFleet()).rejects.toThrow("id-2");
	});

	test("are those that any agent of the cluster obeyed, whatever the watch has shown", async () => {
		const { declare, newAgent } = simulate();
		declare(["id-1"]);
		const [one, other] = [newAgent(), newAgent()];
		await Promise.all([one.getFleet(), other.getFleet()]);
		other.see();
		declare(["id-1", "id-2"]);
		await one.getFleet();
		// The other agent knows this list, but in an earlier version. Its watch is alive but has not shown the Lease since.
		declare(["id-1"]);
		await expect(other.getFleet()).rejects.toThrow("id-2");
	});

	test("come by greeting, to the other agents of the cluster by the watch", async () => {
		const { declare, newAgent, clock, stored } = simulate();
		declare(["id-1"]);
		const [one, other] = [newAgent(), newAgent()];
		await Promise.all([one.getFleet(), other.getFleet()]);
		await one.known.learn([{ id: "id-9", name: "eu-9" }]);
		expect(stored()).toEqual(["id-1", "id-9"]);
		await expect(one.getFleet()).rejects.toThrow('member "eu-9" (id id-9, known since ');
		other.see();
		await expect(other.getFleet()).rejects.toThrow('member "eu-9" (id id-9, known since ');
		// Without a live watch, the agent reads the Lease from the API server.
		const late = newAgent();
		await one.known.learn([{ id: "id-8", name: "eu-8" }]);
		clock.advance(60_000);
		await expect(late.getFleet()).rejects.toThrow("id-8");
	});

	test("of two agents that write at once are all kept", async () => {
		const { declare, newAgent, stored } = simulate();
		declare(["id-1"]);
		const [one, other] = [newAgent(), newAgent()];
		await Promise.all([
			one.known.learn([{ id: "id-2", name: "b" }]),
			other.known.learn([{ id: "id-3", name: "c" }]),
			one.getFleet().catch(() => undefined),
		]);
		expect(stored()).toEqual(["id-1", "id-2", "id-3"]);
	});

	test("that are written by others again and again give up with a reason", async () => {
		const { declare, newAgent } = simulate();
		declare(["id-1"]);
		const agent = newAgent();
		agent.before = ({ verb }) => {
			if (verb === "create") throw new ConflictError("exists");
		};
		await expect(agent.getFleet()).rejects.toThrow(/Lease "xpdb-known-members" in cluster "eu-1": others wrote it/);
	});

	test("are written again where somebody deletes the Lease", async () => {
		const { declare, newAgent, server, stored } = simulate();
		declare(["id-1", "id-2"]);
		const agent = newAgent();
		await agent.getFleet();
		agent.see();
		declare(["id-1"], ["id-2"]);
		await agent.getFleet();
		server.deleteLease(knownMembersLease, {});
		agent.see();
		await agent.getFleet();
		expect(stored()).toEqual(["id-1", "id-2"]);
	});

	for (const [name, text] of [
		["a version of later", '{"version":2,"members":[]}'],
		["no JSON", "{"],
		["no list", '{"version":1,"members":{}}'],
		["half a member", '{"version":1,"members":[{"id":"id-1"}]}'],
		["an empty id", '{"version":1,"members":[{"id":"","name":"a","since":1}]}'],
		["a member twice", '{"version":1,"members":[{"id":"a","name":"a","since":1},{"id":"a","name":"b","since":1}]}'],
		["a field of nobody", '{"version":1,"members":[{"id":"a","name":"a","since":1,"x":1}]}'],
	] as const) {
		test(`refuse a Lease with ${name}, until it is repaired`, async () => {
			const { declare, newAgent, edit } = simulate();
			declare(["id-1"]);
			const [one, later] = [newAgent(), newAgent()];
			await one.getFleet();
			edit(text);
			one.see();
			await expect(one.getFleet()).rejects.toBeInstanceOf(GarbledLeaseError);
			await expect(one.getFleet()).rejects.toThrow('Lease "xpdb-known-members" in cluster "eu-1"');
			await expect(one.getFleet()).rejects.toThrow("delete validatingadmissionpolicybinding xpdb-leases");
			await expect(later.getFleet()).rejects.toBeInstanceOf(GarbledLeaseError);
			edit('{"version":1,"members":[]}');
			one.see();
			expect(membersOf(await one.getFleet())).toEqual(["id-1"]);
		});
	}

	test("have an end", async () => {
		const { declare, newAgent, stored } = simulate();
		declare(["id-1"]);
		const agent = newAgent();
		const many = Array.from({ length: 300 }, (_, index) => ({ id: `other-${index}`, name: "x" }));
		await agent.known.learn(many);
		await expect(agent.getFleet()).rejects.toThrow("cannot keep more than 300 members");
		expect(stored()).toHaveLength(300);
	});

	test("take the name and the address from the list, and none from a greeting", async () => {
		const { server, newAgent } = simulate();
		const agent = newAgent();
		await agent.known.learn([{ id: "id-2", name: "as it says" }]);
		server.fleet = { version: "7", members: [{ id: "id-2", name: "eu-2", address: "h:1" }], forgotten: [] };
		await agent.getFleet();
		expect(agent.known.known).toMatchObject([{ id: "id-2", name: "eu-2", address: "h:1" }]);
		await agent.known.learn([{ id: "id-2", name: "another" }]);
		expect(agent.known.known).toMatchObject([{ id: "id-2", name: "eu-2", address: "h:1" }]);
	});
});

describe("assertStill()", () => {
	test("asks nothing while nobody is missing, and refuses whoever became known since", async () => {
		const { declare, newAgent } = simulate();
		declare(["id-1"]);
		const agent = newAgent();
		await agent.getFleet();
		agent.requests.length = 0;
		await agent.known.assertStill();
		expect(agent.requests).toEqual([]);
		await agent.known.learn([{ id: "id-9", name: "eu-9" }]);
		await expect(agent.known.assertStill()).rejects.toThrow("id-9");
		declare(["id-1"], ["id-9"]);
		await agent.known.assertStill();
	});
});
