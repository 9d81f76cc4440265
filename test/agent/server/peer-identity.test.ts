import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import { beforeAll, describe, expect, test } from "vitest";
import { RecentFleet } from "../../../agent/cluster-api/recent-fleet.ts";
import { PeerIdentity } from "../../../agent/server/peer-identity.ts";
import { type Authority, createAuthority, issueAgentCertificate } from "../../../demo/machine/certificates.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import type { DeclaredFleet } from "../../../disruption/budget/fleet.ts";

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

function shown(pem: string): PeerCertificate {
	return new X509Certificate(pem).toLegacyObject();
}

function identityIn(declared: DeclaredFleet) {
	const world = {
		fleet: declared as DeclaredFleet | Error,
		/** Each read waits for this. */
		reading: Promise.resolve(),
		now: 0,
		wallClock: Date.now(),
		reads: 0,
	};
	const identity = new PeerIdentity({
		serverName,
		local: own,
		fleet: new RecentFleet({
			async getFleet() {
				world.reads++;
				const declared = world.fleet;
				await world.reading;
				if (declared instanceof Error) throw declared;
				return declared;
			},
			now: () => world.now,
		}),
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
				'cannot serve the agents of cluster id "peer-id": it is not a member of the fleet of cluster "eu-1", ' +
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

	test("turns nobody away for a list that may be older than the call", async () => {
		const { identity, world } = identityIn(alone);
		const certificate = await certificateOf("peer-id");
		expect((await identity.check(certificate, { anew: false })).kind).toBe("forbidden");
		world.fleet = both;
		expect((await identity.check(certificate, { anew: false })).kind).toBe("member");
	});

	test("lets in nobody while the list cannot be had, and asks again at once", async () => {
		const { identity, world } = identityIn(both);
		const certificate = await certificateOf("peer-id");
		world.fleet = new AgentUnavailableError("cannot read the fleet", "eu-1");
		await expect(identity.check(certificate, { anew: false })).rejects.toBe(world.fleet);
		world.fleet = both;
		expect((await identity.check(certificate, { anew: false })).kind).toBe("member");
	});

	describe("for a renewal", () => {
		const renewal = { anew: false, renews: true };
		const forever = new Promise<void>(() => undefined);

		test("goes by the list as it was read within a lease's time, without waiting, and has it read anew", async () => {
			const { identity, world } = identityIn(both);
			const certificate = await certificateOf("peer-id");
			await identity.check(certificate, { anew: true });
			Object.assign(world, { now: 9_000, reading: forever });
			expect((await identity.check(certificate, renewal)).kind).toBe("member");
			expect((await identity.check(certificate, renewal)).kind).toBe("member");
			// The second check uses the read that is under way.
			expect(world.reads).toBe(2);
		});

		test("turns away by the next one whoever was taken out", async () => {
			const { identity, world } = identityIn(both);
			const certificate = await certificateOf("peer-id");
			await identity.check(certificate, { anew: true });
			Object.assign(world, { fleet: alone, now: 2_000 });
			expect((await identity.check(certificate, renewal)).kind).toBe("member");
			await world.reading;
			expect((await identity.check(certificate, renewal)).kind).toBe("forbidden");
		});

		test("waits for a list where the last one is older, or does not list the member yet", async () => {
			const { identity, world } = identityIn(both);
			const certificate = await certificateOf("peer-id");
			await identity.check(certificate, { anew: true });
			Object.assign(world, { fleet: alone, now: 10_001 });
			expect((await identity.check(certificate, renewal)).kind).toBe("forbidden");
			Object.assign(world, { fleet: both, now: 12_000 });
			expect((await identity.check(certificate, renewal)).kind).toBe("member");
			Object.assign(world, { fleet: new AgentUnavailableError("cannot read the fleet", "eu-1"), now: 30_000 });
			await expect(identity.check(certificate, renewal)).rejects.toBe(world.fleet);
		});

		test("keeps no older list that comes after a newer one", async () => {
			const { identity, world } = identityIn(both);
			const certificate = await certificateOf("peer-id");
			const late = Promise.withResolvers<void>();
			world.reading = late.promise;
			const first = identity.check(certificate, { anew: true });
			Object.assign(world, { fleet: alone, now: 500, reading: Promise.resolve() });
			expect((await identity.check(certificate, { anew: true })).kind).toBe("forbidden");
			late.resolve();
			await first;
			expect((await identity.check(certificate, renewal)).kind).toBe("forbidden");
		});
	});
});
