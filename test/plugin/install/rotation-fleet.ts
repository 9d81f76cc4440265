// Plays a fleet of two clusters whose certificates change. Clusters keep what is written, and agents adopt it one file at a time.
import { expect } from "vitest";
import type { ClusterObject } from "../../../plugin/install/cluster-object.ts";
import { certificateProblem, readAuthorities } from "../../../plugin/install/judge-certificate.ts";
import type { KeyPair } from "../../../plugin/install/key-pair.ts";
import type { ClusterCertificates } from "../../../plugin/install/read-certificates.ts";
import type { RotationOptions, RotationWorld } from "../../../plugin/install/rotate-certificates.ts";
import { createAuthority, signAgentCertificate } from "../../../plugin/install/sign-certificates.ts";

export const date = new Date("2026-06-01T12:00:00Z");
export const serverName = "xpdb-agent.xpdb-system.svc";
export const names = ["eu", "us"];

export const old = await createAuthority(date);
export const signed = new Map<string, KeyPair>();
for (const name of names) {
	const request = { commonName: name, dnsName: serverName, uri: `xpdb://cluster/id-${name}`, now: date };
	signed.set(name, await signAgentCertificate(old, request));
}

interface Agent {
	readonly cluster: string;
	readonly name: string;
	ca: string;
	pair: KeyPair;
	tells: boolean;
}

/** Creates two clusters with two agents each. The agents get changed files one at a time, and greet each other after each. */
export function fleet() {
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
	/** Updates one outdated file of one agent. Returns false if there is none. */
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

/** Caches the result for each text, because agents are asked many times. */
export function marksOf(bundle: string) {
	const known = marks.get(bundle);
	if (known) return known;
	const read = readAuthorities(bundle).map(({ fingerprint256 }) => ({ sha256: fingerprint256, expiresAtSeconds: 0 }));
	marks.set(bundle, read);
	return read;
}
export const markOf = (certificate: string) => marksOf(certificate)[0] ?? { sha256: "", expiresAtSeconds: 0 };

export function options(more: Partial<RotationOptions> = {}): RotationOptions & { readonly told: string[] } {
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

export function expectChanged({ clusters, agents, state }: ReturnType<typeof fleet>): void {
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
