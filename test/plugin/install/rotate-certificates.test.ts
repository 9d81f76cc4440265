import { describe, expect, test } from "vitest";
import { changeAuthority, RotationStuckError, renewCertificates } from "../../../plugin/install/rotate-certificates.ts";
import { createAuthority, signAgentCertificate } from "../../../plugin/install/sign-certificates.ts";
import {
	date,
	expectChanged,
	fleet,
	markOf,
	marksOf,
	names,
	old,
	options,
	serverName,
	signed,
} from "./rotation-fleet.ts";

describe("changeAuthority()", () => {
	test("goes over both CAs to the new one, and at no time does an agent refuse another", async () => {
		const world = fleet();
		const asked = options();
		expect(await changeAuthority(world.world, asked)).toBe("done");
		expectChanged(world);
		expect(world.state.writes).toEqual([
			"us Secret/xpdb-fleet-ca",
			"eu ConfigMap/xpdb-ca",
			"us ConfigMap/xpdb-ca",
			"eu Secret/xpdb-agent-tls",
			"us Secret/xpdb-agent-tls",
			"eu ConfigMap/xpdb-ca",
			"us ConfigMap/xpdb-ca",
			"us Secret/xpdb-fleet-ca",
		]);
		expect(world.state.uses).toEqual(["Create by us for us", "Sign by us for eu", "Sign by us for us"]);
		expect(asked.told).toContain("eu: all 2 agents trust both CAs");
		expect(asked.told.join()).not.toMatch(/BEGIN/);
	});

	test("goes on where it was interrupted, at whichever write, with the CA that it was begun with", async () => {
		for (let interruptedAt = 1; interruptedAt <= 8; interruptedAt += 1) {
			const world = fleet();
			let left = interruptedAt;
			world.state.beforeWrite = () => {
				left -= 1;
				if (left === 0) throw new Error("interrupted");
			};
			await expect(changeAuthority(world.world, options())).rejects.toThrow("interrupted");
			const begun = world.clusters.get("us")?.authority?.next;
			expect(await changeAuthority(world.world, options())).toBe("done");
			expectChanged(world);
			const current = world.clusters.get("us")?.authority?.current;
			expect([begun === undefined, current]).toEqual([interruptedAt === 1, begun ?? current]);
		}
	});

	test("goes on where it was interrupted while agents had not taken up what was written", async () => {
		for (const after of ["trust both CAs", "show the new certificate", "trust the new CA alone"]) {
			const world = fleet();
			const asked = options({
				tell: (line) => {
					if (line.includes(`waits until all agents ${after}`)) throw new Error("interrupted");
				},
			});
			await expect(changeAuthority(world.world, asked)).rejects.toThrow("interrupted");
			expect(await changeAuthority(world.world, options())).toBe("done");
			expectChanged(world);
		}
	});

	test("makes a new CA where nobody has the key of the old one, in the cluster that is named, however often it is interrupted", async () => {
		for (const interruptedAt of [1, 3, 8]) {
			const world = fleet();
			await world.world.removeAuthority("us");
			await expect(changeAuthority(world.world, options())).rejects.toMatchObject({
				hint: expect.stringContaining("--keep-in=CONTEXT"),
			});
			let left = interruptedAt;
			world.state.beforeWrite = () => {
				left -= 1;
				if (left === 0) throw new Error("interrupted");
			};
			const asked = options({ keepIn: "us" });
			await expect(changeAuthority(world.world, asked)).rejects.toThrow("interrupted");
			const begun = world.clusters.get("us")?.authority?.next;
			expect(await changeAuthority(world.world, asked)).toBe("done");
			expectChanged(world);
			const current = world.clusters.get("us")?.authority?.current;
			expect(current).toEqual(begun ?? current);
		}
	});

	test("refuses to bring a revoked CA back to those that do not trust it, before anything is written", async () => {
		const revoked = await createAuthority(date);
		const world = fleet();
		const eu = world.clusters.get("eu");
		if (eu) world.clusters.set("eu", { ...eu, ca: revoked.certificate });
		for (const authority of [undefined, await createAuthority(date)]) {
			const change = changeAuthority(world.world, options({ authority }));
			await expect(change).rejects.toThrow(/^the members trust different CAs .*: nothing was touched\neu: .*\nus: /);
		}
		expect(world.state.writes).toEqual([]);
	});

	test("takes away a CA that one member trusts besides, and never gives it to another", async () => {
		const extra = await createAuthority(date);
		const world = fleet();
		const eu = world.clusters.get("eu");
		if (eu) world.clusters.set("eu", { ...eu, ca: old.certificate + extra.certificate });
		world.settle();
		world.state.beforeWrite = () => {
			const marks = marksOf(world.clusters.get("us")?.ca ?? "");
			expect(marks).not.toContainEqual(markOf(extra.certificate));
		};
		expect(await changeAuthority(world.world, options())).toBe("done");
		expectChanged(world);
	});

	test("refuses where a member's agents have a certificate that the others do not take", async () => {
		const revoked = await createAuthority(date);
		const world = fleet();
		const eu = world.clusters.get("eu");
		const request = { commonName: "eu", dnsName: serverName, uri: "xpdb://cluster/id-eu", now: date };
		const agent = await signAgentCertificate(revoked, request);
		if (eu) world.clusters.set("eu", { ...eu, ca: old.certificate + revoked.certificate, agent });
		const change = changeAuthority(world.world, options());
		await expect(change).rejects.toThrow(/^the members trust different CAs .*: nothing was touched\neu: .*\nus: /);
		expect(world.state.writes).toEqual([]);
	});

	test("refuses to begin with a kept key whose CA the members do not trust", async () => {
		const world = fleet();
		const us = world.clusters.get("us");
		if (us) world.clusters.set("us", { ...us, authority: { current: await createAuthority(date) } });
		const change = changeAuthority(world.world, options());
		await expect(change).rejects.toThrow("us: Secret xpdb-fleet-ca keeps a CA that the members do not trust");
		expect(world.state.writes).toEqual([]);
	});

	test("leaves no key of the old CA behind where the new one is kept by nobody", async () => {
		const world = fleet();
		const given = options({ authority: await createAuthority(date) });
		expect(await changeAuthority(world.world, given)).toBe("done");
		expect(world.state.writes.at(-1)).toBe("us no Secret/xpdb-fleet-ca");
		expect(world.state.uses).toEqual(["Sign by a file for eu", "Sign by a file for us"]);
	});

	test("gives no certificate of the new CA while one agent does not take it, and says which", async () => {
		const world = fleet();
		world.state.brings = false;
		const stuck = changeAuthority(world.world, options());
		await expect(stuck).rejects.toBeInstanceOf(RotationStuckError);
		await expect(stuck).rejects.toThrow(
			"all agents should trust both CAs, and after 120 s these do not (eu: eu-1, eu-2; us: us-1, us-2)",
		);
		expect(world.state.writes.filter((write) => write.includes("xpdb-agent-tls"))).toEqual([]);
	});

	test("waits for agents where a cluster has none", async () => {
		const world = fleet();
		world.agents.splice(0, 2);
		await expect(changeAuthority(world.world, options())).rejects.toThrow(
			"after 120 s these do not (eu: no agent is ready)",
		);
	});

	test("stops with both CAs where the person does not want to go on, and goes on later", async () => {
		const world = fleet();
		expect(await changeAuthority(world.world, options({ mayGoOn: async () => false }))).toBe("stopped");
		expect(world.agents.map(({ ca }) => marksOf(ca).length)).toEqual([2, 2, 2, 2]);
		expect(await changeAuthority(world.world, options())).toBe("done");
		expectChanged(world);
	});

	test("takes a CA out of files, and keeps its key nowhere", async () => {
		const world = fleet();
		for (const [name, cluster] of world.clusters) world.clusters.set(name, { ...cluster, authority: undefined });
		const authority = await createAuthority(date);
		expect(await changeAuthority(world.world, options({ authority }))).toBe("done");
		expect(world.state.refusals).toEqual([]);
		expect(world.agents.map(({ ca }) => marksOf(ca))).toEqual(
			names.flatMap(() => [marksOf(authority.certificate), marksOf(authority.certificate)]),
		);
		expect(world.state.writes.some((write) => write.includes("xpdb-fleet-ca"))).toBe(false);
	});

	test("refuses agents that are too old to tell, and a fleet whose CA is nowhere", async () => {
		const world = fleet();
		for (const agent of world.agents) agent.tells = false;
		await expect(changeAuthority(world.world, options())).rejects.toThrow("eu: agent eu-1 is too old to tell");
		for (const [name, cluster] of world.clusters) world.clusters.set(name, { ...cluster, authority: undefined });
		await expect(changeAuthority(world.world, options())).rejects.toThrow("no Secret xpdb-fleet-ca");
	});
});

describe("renewCertificates()", () => {
	test("renews one cluster after the other, and no agent refuses another", async () => {
		const { world, state, agents, clusters } = fleet();
		const asked = options();
		await renewCertificates(world, asked);
		expect(state.writes).toEqual(["eu Secret/xpdb-agent-tls", "us Secret/xpdb-agent-tls"]);
		expect(state.refusals).toEqual([]);
		for (const { pair, cluster } of agents) {
			expect(pair).toEqual(clusters.get(cluster)?.agent);
			expect(pair.certificate).not.toBe(signed.get(cluster)?.certificate);
		}
		const shown = asked.told.indexOf("eu: all 2 agents show the new certificate");
		expect(asked.told.indexOf("us: Secret xpdb-agent-tls has a new certificate")).toBeGreaterThan(shown);
	});

	test("refuses while the CA is being changed, where its key is nowhere, and for a CA that nobody trusts", async () => {
		const { world, clusters, state } = fleet();
		const other = await createAuthority(date);
		await expect(renewCertificates(world, options({ authority: other }))).rejects.toThrow(
			"eu, us would refuse certificates",
		);
		const us = clusters.get("us");
		if (us) clusters.set("us", { ...us, authority: { current: old, next: other } });
		await expect(renewCertificates(world, options())).rejects.toThrow("is being changed");
		if (us) clusters.set("us", { ...us, authority: undefined });
		await expect(renewCertificates(world, options())).rejects.toThrow("nothing can be signed");
		expect(state.writes).toEqual([]);
	});
});
