import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { RecentFleet } from "../../../agent/cluster-api/recent-fleet.ts";
import { PeerClients } from "../../../agent/peers/peer-clients.ts";
import { Peers } from "../../../agent/peers/peers.ts";
import type { CertificateMaterial } from "../../../agent/tls/certificates.ts";
import {
	type Authority,
	createAuthority,
	issueAgentCertificate,
	type KeyPair,
} from "../../../demo/machine/certificates.ts";
import { AgentProtocolError, AgentUnavailableError } from "../../../disruption/errors.ts";
import type { FleetMember } from "../../../disruption/budget/fleet.ts";
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
	const world = { members, now: 0, reads: 0 };
	const getFleet = async () => {
		world.reads += 1;
		if (world.members instanceof Error) throw world.members;
		return { members: world.members, forgotten: [] };
	};
	const recent = new RecentFleet({ getFleet, now: () => world.now });
	const rotate = (material: Partial<CertificateMaterial>): void => {
		certificates.current = { ...certificates.current, ...material };
		for (const listener of listeners) listener(certificates.current);
	};
	return { peers: new Peers({ clients, fleet: recent, clusterId: "eu-2-id", clusterName: "eu-2" }), world, rotate };
}

describe("others()", () => {
	test("are all members but its own cluster, by one read of the fleet, each with its own failure", async () => {
		const { peerAddress } = await serve();
		const { peers, world } = peersOf([
			{ id: "eu-2-id", name: "eu-2", address: "127.0.0.1:1" },
			{ id: "eu-3-id", name: "eu-3" },
			{ id: clusterId, name: "eu-1", address: peerAddress },
		]);
		const [silent, reached, ...rest] = await peers.others();
		await expect(silent).rejects.toThrow(/"eu-3" .* no address/);
		expect((await (await reached)?.describe())?.clusterName).toBe("eu-1");
		expect([rest, world.reads]).toEqual([[], 1]);
	});
});

describe("othersFor()", () => {
	test("tells the others whose call it is, and reads no list anew that is less than a second old", async () => {
		const agent = await serve();
		const { peers, world } = peersOf([{ id: clusterId, name: "eu-1", address: agent.peerAddress }]);
		await Promise.allSettled(await peers.others());
		world.now += 999;
		const [other] = await peers.othersFor(buildTokenCaller({ tokenId: "JTI=7" }));
		await (await other)?.cancel(acquisition.budget, ["id"], { sent: false });
		expect(agent.audit.join()).toContain('"tokenId":"JTI=7"');
		expect(world.reads).toBe(1);
		world.now += 1;
		expect(await peers.othersFor(buildTokenCaller())).toHaveLength(1);
		expect(world.reads).toBe(2);
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
		const problem = new AgentUnavailableError("cannot read the fleet", "eu-2");
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
		const unavailable = new AgentUnavailableError("cannot read the fleet", "eu-2");
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
