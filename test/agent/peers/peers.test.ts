import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { RecentFleet } from "../../../agent/cluster-api/recent-fleet.ts";
import { PeerClients } from "../../../agent/peers/peer-clients.ts";
import { Peers } from "../../../agent/peers/peers.ts";
import type { CertificateMaterial } from "../../../agent/server/certificates.ts";
import {
	type Authority,
	createAuthority,
	issueAgentCertificate,
	type KeyPair,
} from "../../../demo/machine/certificates.ts";
import type { MemberBudget } from "../../../disruption/cluster.ts";
import { AgentProtocolError, AgentUnavailableError } from "../../../disruption/errors.ts";
import type { FleetMember } from "../../../disruption/fleet.ts";
import { buildTokenCaller } from "../../support/build-caller.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import { acquisition, clusterId } from "../../support/samples.ts";
import { type ServedAgent, serveAgent, serverName } from "../../support/served-agent.ts";

let fleet: Authority;
let stranger: Authority;
let pair: KeyPair;
beforeAll(async () => {
	[fleet, stranger] = await Promise.all([createAuthority("fleet"), createAuthority("stranger")]);
	pair = await issueAgentCertificate(fleet, { clusterId: "eu-2-id" });
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function serve(authority = fleet, local = createFakeCluster()): Promise<ServedAgent> {
	const fleetMembers = [{ id: "eu-2-id", name: "eu-2" }];
	const agent = await serveAgent({ fleet: authority, local, fleetMembers });
	cleanups.push(() => agent[Symbol.asyncDispose]());
	return agent;
}

function peersOf(members: readonly FleetMember[] | Error) {
	const listeners: ((material: CertificateMaterial) => void)[] = [];
	const certificates = {
		current: { certificate: pair.certificate, privateKey: pair.key, ca: fleet.certificate },
		onChange: (listener: (material: CertificateMaterial) => void) => {
			listeners.push(listener);
			return () => undefined;
		},
	};
	const clients = new PeerClients({ certificates, serverName });
	cleanups.push(() => clients.close());
	const world = { members, now: 0 };
	const getFleet = async () => {
		if (world.members instanceof Error) throw world.members;
		return { members: world.members, forgotten: [] };
	};
	const recent = new RecentFleet({ getFleet, now: () => world.now });
	const rotate = (material: Partial<CertificateMaterial>): void => {
		certificates.current = { ...certificates.current, ...material };
		for (const listener of listeners) listener(certificates.current);
	};
	return { peers: new Peers({ clients, fleet: recent, clusterName: "eu-2" }), world, rotate };
}

describe("budget()", () => {
	const [db, web] = ["db", "web"].map((name) => ({ name: { namespace: "shop", name }, spec: { maxUnavailable: 1 } }));
	if (!db || !web) throw new Error("there are two");
	const serving = (budgets: readonly MemberBudget[]) =>
		serve(fleet, createFakeCluster({ listBudgets: async () => ({ clusterId, fleetHash: "5f", budgets }) }));
	const own = { id: "eu-2-id", name: "eu-2", address: "127.0.0.1:1" };
	const silent = { id: "eu-3-id", name: "eu-3" };
	const ask = (peers: Peers) => peers.budget(db.name, { exceptId: "eu-2-id" });

	test("gives the one of that name as another member has it, without asking its own cluster", async () => {
		const { peerAddress } = await serving([web, db]);
		const { peers } = peersOf([own, { id: clusterId, name: "eu-1", address: peerAddress }]);
		expect(await ask(peers)).toEqual([db]);
	});

	test("gives it also where another one cannot be asked", async () => {
		const { peerAddress } = await serving([db]);
		const { peers } = peersOf([own, silent, { id: clusterId, name: "eu-1", address: peerAddress }]);
		expect(await ask(peers)).toEqual([db]);
	});

	test("gives none where all have answered", async () => {
		const { peerAddress } = await serving([web]);
		const { peers } = peersOf([own, { id: clusterId, name: "eu-1", address: peerAddress }]);
		expect(await ask(peers)).toEqual([]);
	});

	test("refuses where none has it and one cannot be asked, and says what helps", async () => {
		const { peerAddress } = await serving([web]);
		const { peers } = peersOf([own, silent, { id: clusterId, name: "eu-1", address: peerAddress }]);
		await expect(ask(peers)).rejects.toBeInstanceOf(AgentUnavailableError);
		await expect(ask(peers)).rejects.toThrow(/budget "shop\/db".*"eu-2" does not have.*no address.*in every member/);
	});
});

describe("member()", () => {
	test("reaches the member at its declared address", async () => {
		const agent = await serve();
		const { peers } = peersOf([{ id: clusterId, name: "eu-1", address: agent.peerAddress }]);
		const member = await peers.member(clusterId);
		expect((await member.describe()).clusterName).toBe("eu-1");
	});

	test("refuses an id that is not in the fleet, and names those that are", async () => {
		const { peers } = peersOf([{ id: clusterId, name: "eu-1", address: "127.0.0.1:1" }]);
		await expect(peers.member("another")).rejects.toBeInstanceOf(AgentProtocolError);
		await expect(peers.member("another")).rejects.toThrow(`its fleet is eu-1 (${clusterId})`);
	});

	test("refuses a member without an address, and says what helps", async () => {
		const { peers } = peersOf([{ id: clusterId, name: "eu-1" }]);
		await expect(peers.member(clusterId)).rejects.toBeInstanceOf(AgentUnavailableError);
		await expect(peers.member(clusterId)).rejects.toThrow(/"eu-1" .* no address .* --contexts/);
	});

	test("refuses where the fleet cannot be had", async () => {
		const problem = new AgentUnavailableError("Cannot read the fleet", "eu-2");
		await expect(peersOf(problem).peers.member(clusterId)).rejects.toBe(problem);
	});

	test("tells the member whose call it is", async () => {
		const agent = await serve();
		const { peers } = peersOf([{ id: clusterId, name: "eu-1", address: agent.peerAddress }]);
		const member = await peers.member(clusterId, buildTokenCaller({ tokenId: "JTI=7" }));
		await member.release(acquisition);
		await member.cancel(acquisition.budget, ["id"], { sent: false });
		expect(agent.audit.join()).toContain('"tokenId":"JTI=7"');
	});

	test("passes a renewal on to where the member was last, without waiting for the list, and reads it anew beside it", async () => {
		const agent = await serve();
		const { peers, world } = peersOf([{ id: clusterId, name: "eu-1", address: agent.peerAddress }]);
		await peers.member(clusterId);
		const unavailable = new AgentUnavailableError("Cannot read the fleet", "eu-2");
		Object.assign(world, { members: unavailable, now: 60_000 });
		const member = await peers.member(clusterId, undefined, { renews: true });
		expect((await member.describe()).clusterName).toBe("eu-1");
		await expect(peers.member(clusterId)).rejects.toBe(unavailable);
		world.members = [{ id: "eu-3-id", name: "eu-3", address: "127.0.0.1:1" }];
		await peers.member(clusterId, undefined, { renews: true });
		await expect(peers.member(clusterId, undefined, { renews: true })).rejects.toBeInstanceOf(AgentProtocolError);
	});

	test("takes no agent of another fleet", async () => {
		const agent = await serve(stranger);
		const { peers } = peersOf([{ id: clusterId, name: "eu-1", address: agent.peerAddress }]);
		const member = await peers.member(clusterId);
		await expect(member.describe()).rejects.toBeInstanceOf(AgentUnavailableError);
	});

	test("takes no other member's agent at a member's address", async () => {
		const agent = await serve();
		const { peers } = peersOf([{ id: "eu-3-id", name: "eu-3", address: agent.peerAddress }]);
		const member = await peers.member("eu-3-id");
		await expect(member.describe()).rejects.toBeInstanceOf(AgentUnavailableError);
		await expect(member.describe()).rejects.toThrow(`is for cluster id "${clusterId}", not for cluster id "eu-3-id"`);
	});

	test("uses a new certificate and a new CA for the next call", async () => {
		const agent = await serve(stranger);
		const { peers, rotate } = peersOf([{ id: clusterId, name: "eu-1", address: agent.peerAddress }]);
		await expect((await peers.member(clusterId)).describe()).rejects.toBeInstanceOf(AgentUnavailableError);
		const { certificate, key } = await issueAgentCertificate(stranger, { clusterId });
		rotate({ certificate, privateKey: key, ca: stranger.certificate });
		expect((await (await peers.member(clusterId)).describe()).clusterName).toBe("eu-1");
	});
});
