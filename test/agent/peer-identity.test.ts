import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import { beforeAll, describe, expect, test } from "vitest";
import type { DeclaredFleet } from "../../agent/cluster-api.ts";
import { PeerIdentity } from "../../agent/peer-identity.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { type Authority, createAuthority, issueAgentCertificate } from "../controlplane/certificates.ts";

const serverName = "xpdb-agent.xpdb-system.svc";
const own = { id: "own-id", name: "eu-1" };
const both: DeclaredFleet = { members: [own, { id: "peer-id", name: "eu-2" }], forgotten: [] };
const alone: DeclaredFleet = { members: [own], forgotten: [{ id: "peer-id" }] };

let fleet: Authority;
beforeAll(async () => {
	fleet = await createAuthority("fleet");
});

const certificateOf = async (clusterId: string): Promise<PeerCertificate> =>
	shown((await issueAgentCertificate(fleet, { clusterId })).certificate);

/** As a TLS socket shows it. */
function shown(pem: string): PeerCertificate {
	return new X509Certificate(pem).toLegacyObject();
}

function identityIn(declared: DeclaredFleet) {
	const world = { fleet: declared as DeclaredFleet | Error, now: 0, wallClock: Date.now(), reads: 0 };
	const identity = new PeerIdentity({
		serverName,
		local: own,
		getFleet: async () => {
			world.reads++;
			if (world.fleet instanceof Error) throw world.fleet;
			return world.fleet;
		},
		now: () => world.now,
		wallClock: () => world.wallClock,
	});
	return { identity, world };
}

describe("check()", () => {
	test("lets in a member and the own cluster's agents", async () => {
		const { identity } = identityIn(both);
		for (const clusterId of ["peer-id", "own-id"]) {
			const verdict = await identity.check(await certificateOf(clusterId), { anew: true });
			expect(verdict).toEqual({ kind: "member", clusterId });
		}
	});

	test("lets in nobody who was taken out, and says what is listed", async () => {
		const { identity } = identityIn(alone);
		expect(await identity.check(await certificateOf("peer-id"), { anew: true })).toEqual({
			kind: "forbidden",
			reason:
				'Cannot serve the agents of cluster id "peer-id": it is no member of the fleet of cluster "eu-1", ' +
				"whose ConfigMap xpdb-fleet lists eu-1 (own-id)",
		});
	});

	test("turns away whoever has no name of an agent, or none of one cluster", async () => {
		const { identity, world } = identityIn(both);
		const usages = ["client"] as const;
		const uris = ["xpdb://cluster/peer-id"];
		const requests = [
			{ commonName: "web", dnsNames: ["web.svc"], uris, usages },
			{ commonName: "xpdb-agent", dnsNames: [serverName], usages },
			{ commonName: "xpdb-agent", dnsNames: [serverName], uris: [...uris, "xpdb://cluster/own-id"], usages },
		];
		for (const request of requests) {
			const { certificate } = await fleet.issue(request);
			expect((await identity.check(shown(certificate), { anew: true })).kind).toBe("unauthenticated");
		}
		expect((await identity.check(undefined, { anew: true })).kind).toBe("unauthenticated");
		expect(world.reads).toBe(0);
	});

	test("turns away a certificate that expired after its connection was made", async () => {
		const { identity, world } = identityIn(both);
		const { certificate } = await issueAgentCertificate(fleet, { clusterId: "peer-id", validForMs: 60_000 });
		expect((await identity.check(shown(certificate), { anew: true })).kind).toBe("member");
		world.wallClock += 61_000;
		const verdict = await identity.check(shown(certificate), { anew: true });
		expect(verdict).toEqual({ kind: "unauthenticated", reason: expect.stringContaining("certificate expired at") });
	});

	test("reads the list anew where it is told to, and uses it for less than a second elsewhere", async () => {
		const { identity, world } = identityIn(both);
		const certificate = await certificateOf("peer-id");
		const kindOf = async (anew: boolean) => (await identity.check(certificate, { anew })).kind;
		expect(await kindOf(false)).toBe("member");
		world.fleet = alone;
		world.now = 999;
		expect(await kindOf(false)).toBe("member");
		expect(world.reads).toBe(1);
		world.now = 1_000;
		expect(await kindOf(false)).toBe("forbidden");
		world.fleet = both;
		expect(await kindOf(true)).toBe("member");
		world.fleet = alone;
		expect(await kindOf(true)).toBe("forbidden");
		expect(await kindOf(false)).toBe("forbidden");
	});

	test("lets in nobody while the list cannot be had, and asks again at once", async () => {
		const { identity, world } = identityIn(both);
		const certificate = await certificateOf("peer-id");
		world.fleet = new AgentUnavailableError("Cannot read the fleet", "eu-1");
		await expect(identity.check(certificate, { anew: false })).rejects.toBe(world.fleet);
		world.fleet = both;
		expect((await identity.check(certificate, { anew: false })).kind).toBe("member");
	});
});
