// Tests that agents which left the fleet, or show another member's certificate, are refused while all others continue. During a change of
// the CA, no agent is refused.
import { X509Certificate } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { ServerCredentials } from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";
import { createAuthority, issueAgentCertificate } from "../../../demo/machine/certificates.ts";
import type { KeyPair } from "../../../demo/machine/key-pairs.ts";
import { AgentForbiddenError } from "../../../disruption/errors.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { startScriptedAgent } from "../../support/scripted-agent.ts";
import { agentNames, fleetControl, recoverAgents } from "../agents.ts";
import { createDatabase, type Database, type Pod } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { here } from "../faults/recovery-limits.ts";
import { eventually, kubectl } from "../kubectl.ts";
import { uncordonAll } from "../nodes.ts";
import { plugin, startPlugin } from "../plugin-process.ts";
import { leaseMs, marginMs } from "../progress.ts";
import { declareFleet } from "./declare-fleet.ts";
import { meetAgent } from "./meet-agent.ts";
import { acquireRequestFor, agentFile, type Cluster, clusterOf, dialPeer, pairOf } from "./member-agent.ts";

const never = new AbortController().signal;
const cleanups: (() => Promise<void>)[] = [];
async function cleanUp(): Promise<void> {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

/** Replaces the file atomically, as a kubelet does. */
function bring(cluster: Cluster, file: "tls.crt" | "tls.key" | "fleet-ca.crt", text: string): void {
	const path = agentFile(cluster, file);
	writeFileSync(`${path}.new`, text, { mode: 0o600 });
	renameSync(`${path}.new`, path);
}

function bringPair(cluster: Cluster, { certificate, key }: KeyPair): void {
	bring(cluster, "tls.key", key);
	bring(cluster, "tls.crt", certificate);
}

describeOnFleet("a member that was taken out", () => {
	afterEach(cleanUp);

	test("gets no Lease and commits nothing with its certificate, and the others go on", async () => {
		const [c1, c3] = [clusterOf("c1"), clusterOf("c3")];
		await using database = await createDatabase({
			replicas: 1,
			budget: { maxUnavailable: 1 },
			contexts: ["c1", "c2"],
		});
		using dialed = dialPeer(c1, pairOf(c3));
		const { peer } = dialed;
		const request = acquireRequestFor(database.namespace, "nonce-1");
		const before = await peer.acquire(request, { wait: true, signal: never });
		if (before.kind !== "acquired") throw new Error("A member must get the Lease");
		for (const context of ["c1", "c2"]) {
			await declareFleet(cleanups, context, (members) => ({
				members: members.filter(({ id }) => id !== c3.id),
				forgotten: [{ id: c3.id, name: "c3" }],
			}));
		}
		// Uses a connection that is already open, and an acquisition that is still valid.
		const calls = await Promise.allSettled([
			peer.commit(before.acquisition, []),
			peer.count(before.acquisition, request),
			peer.acquire(acquireRequestFor(database.namespace, "nonce-2"), { wait: true, signal: never }),
		]);
		const refused = `cannot serve the agents of cluster id "${c3.id}": it is not a member of the fleet of cluster "c1"`;
		for (const call of calls) {
			const reason: unknown = call.status === "rejected" ? call.reason : undefined;
			expect(reason).toBeInstanceOf(AgentForbiddenError);
			expect(String(reason)).toContain(refused);
		}
		await eventually(
			"the rest to be refused too",
			async () => {
				const rest = await Promise.allSettled([peer.renew(before.acquisition), peer.describe()]);
				return rest.every((each) => each.status === "rejected");
			},
			leaseMs,
		);
		const [pod] = await database.pods();
		const askedAt = performance.now();
		const evicted = await plugin([...evictOfMany(database, pod, ["c1", "c2"]), "--timeout", "4m"]);
		expect(evicted.code, evicted.stderr).toBe(0);
		expect(performance.now() - askedAt, evicted.stderr).toBeLessThan(here(leaseMs + marginMs));
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});
});

describeOnFleet("a certificate of another member", () => {
	afterEach(async () => {
		await cleanUp();
		await recoverAgents();
	});

	test("is not taken from whoever answers at a member's address", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const c3 = clusterOf("c3");
		const { certificate, key } = pairOf(c3);
		const seen: string[] = [];
		const see = (name: string) => () => void seen.push(name);
		const impostor = await startScriptedAgent(
			{ describe: see("describe"), listBudgets: see("listBudgets"), acquire: see("acquire") },
			ServerCredentials.createSsl(
				readFileSync(agentFile(c3, "fleet-ca.crt")),
				[{ cert_chain: Buffer.from(certificate), private_key: Buffer.from(key) }],
				false,
			),
		);
		cleanups.push(async () => impostor[Symbol.asyncDispose]());
		await declareFleet(cleanups, "c1", (members) => ({
			members: members.map((member) => (member.name === "c2" ? { ...member, address: impostor.address } : member)),
		}));
		const pod = (await database.pods()).find(({ context }) => context === "c1");
		// Uses only c1's context, whose agents pass the calls on.
		const refused = await plugin([...evictArgs(database, pod), "--timeout", "10s"]);
		expect(refused.code, refused.stdout + refused.stderr).toBe(4);
		expect(refused.stderr).toContain(`is for cluster id "${c3.id}", not for cluster id "${clusterOf("c2").id}"`);
		expect(seen).toEqual([]);
		expect(await database.pods()).toHaveLength(3);
		// Reaches each cluster through its own API server.
		const evicted = await plugin([...evictOfMany(database, pod, sharedFleet().contexts), "--timeout", "2m"]);
		expect(evicted.code, evicted.stderr).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});

	test("makes no agent: it says why and ends, and the other one of its cluster goes on", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const [c2, c3] = [clusterOf("c2"), clusterOf("c3")];
		const own = pairOf(c2);
		bringPair(c2, pairOf(c3));
		cleanups.push(async () => bringPair(c2, own));
		const [name = ""] = await agentNames("c2");
		await fleetControl().killAgent("c2", name);
		const find = async () => (await fleetControl().listAgents("c2")).find((agent) => agent.name === name);
		await eventually("the agent to say why it does not start", async () => {
			const log = readFileSync((await find())?.logFile ?? "", "utf8");
			return log.includes(`is for cluster id "${c3.id}", and must have the URI xpdb://cluster/${c2.id}`);
		});
		expect((await find())?.ready).toBe(false);
		const [pod] = await database.pods();
		const evicted = await plugin([...evictArgs(database, pod), "--timeout", "2m"]);
		expect(evicted.code, evicted.stderr).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});
});

describeOnFleet("a change of the CA", () => {
	afterEach(async () => {
		await cleanUp();
		await uncordonAll();
	});

	test("with both for a while: a drain goes on, and whoever has only the old one is out at its end", async () => {
		const { clusters, contexts } = sharedFleet();
		const oldPairs = new Map(clusters.map((cluster) => [cluster.name, pairOf(cluster)]));
		const [c1, c2] = [clusterOf("c1"), clusterOf("c2")];
		const oldCa = readFileSync(agentFile(c1, "fleet-ca.crt"), "utf8");
		const authority = await createAuthority("xpdb-fleet-ca-2");
		const trust = async (ca: string) => {
			for (const cluster of clusters) {
				bring(cluster, "fleet-ca.crt", ca);
				const patch = JSON.stringify({ data: { "ca.crt": ca } });
				await kubectl(cluster.name, ["-n", "xpdb-system", "patch", "configmap", "xpdb-ca", "-p", patch]);
			}
			await untilEachAgent("has the CAs", async (_, ip) => {
				const [byOld, byNew] = await Promise.all([meetAgent(ip, oldOnly), meetAgent(ip, newOnly)]);
				return byOld?.letIn === ca.includes(oldCa) && byNew?.letIn === ca.includes(authority.certificate);
			});
		};
		const show = async (pairs: ReadonlyMap<string, KeyPair>) => {
			for (const cluster of clusters) bringPair(cluster, pairs.get(cluster.name) ?? pairOf(cluster));
			await untilEachAgent("shows its certificate", async (cluster, ip) => {
				const meeting = await meetAgent(ip, oldOnly);
				return meeting?.shown === new X509Certificate(pairOf(cluster).certificate).fingerprint256;
			});
		};
		const [oldOnly, both] = [pairOf(c2), oldCa + authority.certificate];
		const newPairs = new Map<string, KeyPair>();
		for (const { name, id } of clusters) newPairs.set(name, await issueAgentCertificate(authority, { clusterId: id }));
		const newOnly = newPairs.get("c2") ?? oldOnly;
		// Restores the old CA in the same steps.
		cleanups.push(async () => {
			await trust(both);
			await show(oldPairs);
			await trust(oldCa);
		});
		await trust(both);
		await using database = await createDatabase({
			replicas: 2,
			budget: { maxUnavailable: 1 },
			annotations: { "bench/ready-after": "6s" },
		});
		using old = dialPeer(c1, oldOnly);
		await old.peer.describe();
		const nodes = contexts.map((context) => `${context}-operator/${context}-n0`);
		const operators = contexts.map((context) => `${context}-operator`).join(",");
		using drain = startPlugin(["drain", ...nodes, "--contexts", operators, "-y", "--ignore-daemonsets"]);
		await drain.printed("evicted");
		await show(newPairs);
		expect((await old.peer.describe()).clusterId).toBe(c1.id);
		await trust(authority.certificate);
		await eventually(
			"whoever has a certificate of the old CA to be out",
			async () => {
				return old.peer.describe().then(
					() => false,
					() => true,
				);
			},
			leaseMs,
		);
		const result = await drain.finished;
		expect(result.code, result.stderr).toBe(0);
		expect(result.stderr).not.toContain("certificate");
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});
});

/** Returns arguments that reach each cluster through its own API server. */
function evictOfMany(database: Database, pod: Pod | undefined, contexts: readonly string[]): readonly string[] {
	const operators = contexts.map((context) => `${context}-operator`).join(",");
	return ["evict", `${pod?.context}-operator/${pod?.name}`, "-n", database.namespace, "--contexts", operators, "-y"];
}

/** Waits until the condition holds for each agent. Agents read their files every 2 s. */
async function untilEachAgent(what: string, holds: (cluster: Cluster, ip: string) => Promise<boolean>): Promise<void> {
	await eventually(`that each agent ${what}`, async () => {
		const met = sharedFleet().clusters.map(async (cluster) => {
			const agents = await fleetControl().listAgents(cluster.name);
			const ready = agents.filter(({ ready }) => ready);
			return ready.length === 2 && (await Promise.all(ready.map(({ ip }) => holds(cluster, ip)))).every(Boolean);
		});
		return (await Promise.all(met)).every(Boolean);
	});
}
