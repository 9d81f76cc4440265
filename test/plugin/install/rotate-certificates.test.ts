import { beforeAll, describe, expect, test } from "vitest";
import type { ClusterObject } from "../../../plugin/install/cluster-object.ts";
import { certificateProblem, readAuthorities } from "../../../plugin/install/judge-certificate.ts";
import type { KeyPair } from "../../../plugin/install/key-pair.ts";
import type { ClusterCertificates } from "../../../plugin/install/read-certificates.ts";
import { moveAuthority } from "../../../plugin/install/move-authority.ts";
import {
	changeAuthority,
	type RotationOptions,
	RotationStuckError,
	type RotationWorld,
	renewCertificates,
} from "../../../plugin/install/rotate-certificates.ts";
import { createAuthority, signAgentCertificate } from "../../../plugin/install/sign-certificates.ts";

const date = new Date("2026-06-01T12:00:00Z");
const serverName = "xpdb-agent.xpdb-system.svc";
const names = ["eu", "us"];

let old: KeyPair;
const signed = new Map<string, KeyPair>();
beforeAll(async () => {
	old = await createAuthority(date);
	for (const name of names) {
		const request = { commonName: name, dnsName: serverName, uri: `xpdb://cluster/id-${name}`, now: date };
		signed.set(name, await signAgentCertificate(old, request));
	}
});

interface Agent {
	readonly cluster: string;
	readonly name: string;
	ca: string;
	pair: KeyPair;
	tells: boolean;
}

/** Two clusters with two agents each, to which a kubelet brings one file at a time; the agents greet each other after each. */
function fleet() {
	const empty: KeyPair = { certificate: "", key: "" };
	const clusters = new Map(
		names.map((name): [string, ClusterCertificates] => [
			name,
			{
				context: name,
				clusterId: `id-${name}`,
				ca: old.certificate,
				agent: signed.get(name),
				authority: name === "us" ? { current: old } : undefined,
			},
		]),
	);
	const agents = names.flatMap((cluster) =>
		[1, 2].map(
			(index): Agent => ({
				cluster,
				name: `${cluster}-${index}`,
				ca: old.certificate,
				pair: signed.get(cluster) ?? empty,
				tells: true,
			}),
		),
	);
	const state = {
		refusals: [] as string[],
		writes: [] as string[],
		uses: [] as string[],
		beforeWrite: (): void => undefined,
		now: 0,
		brings: true,
	};
	const find = (name: string): ClusterCertificates => {
		const cluster = clusters.get(name);
		if (!cluster) throw new Error(name);
		return cluster;
	};
	const judged = new Map<string, string | undefined>();
	const greetEachOther = (): void => {
		for (const caller of agents) {
			for (const { ca, name } of agents) {
				const clusterId = `id-${caller.cluster}`;
				const question = ca + caller.pair.certificate;
				if (!judged.has(question)) {
					judged.set(question, certificateProblem(caller.pair, { ca, serverName, clusterId, now: date }));
				}
				const problem = judged.get(question);
				if (problem !== undefined) state.refusals.push(`${name} refuses ${caller.name}: ${problem}`);
			}
		}
	};
	/** One file of one agent that is not as its cluster has it. */
	const bring = (): boolean => {
		for (const agent of agents) {
			const { ca = "", agent: pair } = find(agent.cluster);
			if (agent.ca !== ca) agent.ca = ca;
			else if (pair && agent.pair.certificate !== pair.certificate) agent.pair = pair;
			else continue;
			greetEachOther();
			return true;
		}
		return false;
	};
	const world: RotationWorld = {
		read: async () => [...clusters.values()],
		async write(context, object) {
			state.beforeWrite();
			state.writes.push(`${context} ${object.kind}/${object.metadata.name}`);
			clusters.set(context, written(find(context), object));
		},
		async removeAuthority(context) {
			state.beforeWrite();
			state.writes.push(`${context} no Secret/xpdb-fleet-ca`);
			clusters.set(context, { ...find(context), authority: undefined });
		},
		async recordUse({ action, keeper = "a file", member }) {
			state.uses.push(`${action} by ${keeper} for ${member}`);
		},
		agents: async (context) =>
			agents
				.filter(({ cluster }) => cluster === context)
				.map(({ name, ca, pair, tells }) => ({
					name,
					certificates: tells ? { certificate: markOf(pair.certificate), authorities: marksOf(ca) } : undefined,
				})),
		problem: () => undefined,
		async pause() {
			state.now += 1_000;
			if (state.brings) bring();
		},
		now: () => state.now,
	};
	const settle = (): void => {
		while (bring());
	};
	return { world, clusters, agents, state, settle };
}

function written(cluster: ClusterCertificates, { metadata, ...object }: ClusterObject): ClusterCertificates {
	const data = object["data"] as Readonly<Record<string, string>>;
	const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
	if (metadata.name === "xpdb-ca") return { ...cluster, ca: data["ca.crt"] };
	const current = { certificate: text("tls.crt"), key: text("tls.key") };
	if (metadata.name === "xpdb-agent-tls") return { ...cluster, agent: current };
	const next = { certificate: text("next.crt"), key: text("next.key") };
	return { ...cluster, authority: { current, ...(next.key !== "" && { next }) } };
}

const marks = new Map<string, readonly { readonly sha256: string; readonly expiresAtSeconds: number }[]>();

/** Each text is read once: agents are asked many times. */
function marksOf(bundle: string) {
	const known = marks.get(bundle);
	if (known) return known;
	const read = readAuthorities(bundle).map(({ fingerprint256 }) => ({ sha256: fingerprint256, expiresAtSeconds: 0 }));
	marks.set(bundle, read);
	return read;
}
const markOf = (certificate: string) => marksOf(certificate)[0] ?? { sha256: "", expiresAtSeconds: 0 };

function options(more: Partial<RotationOptions> = {}): RotationOptions & { readonly told: string[] } {
	const told: string[] = [];
	return {
		agentNamespace: "xpdb-system",
		authority: undefined,
		date,
		timeoutMs: 120_000,
		tell: (line) => void told.push(line),
		mayGoOn: async () => true,
		told,
		...more,
	};
}

/** What a change of the CA comes to. */
function expectChanged({ clusters, agents, state }: ReturnType<typeof fleet>): void {
	expect(state.refusals).toEqual([]);
	const current = clusters.get("us")?.authority?.current;
	expect(current?.certificate).not.toBe(old.certificate);
	expect(clusters.get("us")?.authority?.next).toBeUndefined();
	for (const { ca, pair, cluster } of agents) {
		expect(marksOf(ca)).toEqual(marksOf(current?.certificate ?? ""));
		const wanted = { ca, serverName, clusterId: `id-${cluster}`, now: date };
		expect(certificateProblem(pair, wanted)).toBeUndefined();
	}
}

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
		await expect(changeAuthority(world.world, options())).rejects.toThrow("is in no Secret xpdb-fleet-ca");
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

describe("moveAuthority()", () => {
	const moved = (world: ReturnType<typeof fleet>, keepIn = "eu") =>
		moveAuthority(world.world, { agentNamespace: "xpdb-system", keepIn, tell: () => undefined });

	test("lets another cluster keep the CA's key, and certificates are renewed with it", async () => {
		const world = fleet();
		await moved(world);
		expect(world.state.writes).toEqual(["eu Secret/xpdb-fleet-ca", "us no Secret/xpdb-fleet-ca"]);
		expect(world.state.uses).toEqual(["Move by us for eu"]);
		await renewCertificates(world.world, options());
		expect(world.state.uses.slice(1)).toEqual(["Sign by eu for eu", "Sign by eu for us"]);
		expect(await changeAuthority(world.world, options({ keepIn: "us" }))).toBe("done");
		expect(world.clusters.get("eu")?.authority).toBeUndefined();
	});

	test("goes on where it was interrupted, and never ends with no key at all", async () => {
		const world = fleet();
		world.state.beforeWrite = () => {
			if (world.state.writes.length === 1) throw new Error("interrupted");
		};
		await expect(moved(world)).rejects.toThrow("interrupted");
		world.state.beforeWrite = () => undefined;
		await moved(world);
		expect(["eu", "us"].map((name) => world.clusters.get(name)?.authority?.current)).toEqual([old, undefined]);
	});

	test("refuses a context that is not named, and a key that nobody has", async () => {
		const world = fleet();
		await expect(moved(world, "ap")).rejects.toThrow("--keep-in=ap is not one of the contexts eu, us");
		await world.world.removeAuthority("us");
		await expect(moved(world)).rejects.toThrow("there is nothing to move");
	});
});
