import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { PeerClients } from "../../../agent/peers/peer-clients.ts";
import { Replicas } from "../../../agent/peers/replicas.ts";
import {
	type Authority,
	createAuthority,
	issueAgentCertificate,
	type KeyPair,
} from "../../../demo/machine/certificates.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { newPod } from "../../support/build-pod.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import * as samples from "../../support/samples.ts";
import { serveAgent, serverName } from "../../support/served-agent.ts";

let fleet: Authority;
let pair: KeyPair;
beforeAll(async () => {
	fleet = await createAuthority("fleet");
	pair = await issueAgentCertificate(fleet, { clusterId: samples.clusterId });
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function agentPod(name: string, change: Partial<PodRecord> = {}): PodRecord {
	return newPod(name, { namespace: "xpdb-system", labels: { "app.kubernetes.io/name": "xpdb-agent" }, ...change });
}

function replicasOf(podName: string, pods: readonly PodRecord[], addresses: Record<string, string | undefined> = {}) {
	const clients = new PeerClients({
		certificates: {
			current: { certificate: pair.certificate, privateKey: pair.key, ca: fleet.certificate },
			onChange: () => () => undefined,
		},
		serverName,
	});
	cleanups.push(() => clients.close());
	const clock = { time: 0, now: () => clock.time };
	const reports: unknown[] = [];
	const looked: string[] = [];
	const replicas = new Replicas({
		clusterId: samples.clusterId,
		clusterName: "eu-1",
		pod: { name: podName, namespace: "xpdb-system" },
		pods: { pods: (namespace) => pods.filter((pod) => pod.namespace === namespace) },
		clients,
		addressOf: async ({ name }) => {
			looked.push(name);
			if (!(name in addresses)) throw new Error(`No address of ${name}`);
			return addresses[name];
		},
		clock,
		report: (problem) => reports.push(problem),
	});
	return { replicas, clock, reports, looked };
}

/** Lets an address lookup finish. */
const soon = () => new Promise((resolve) => setImmediate(resolve));

describe("lineHost()", () => {
	const hosts: { name: string; podName: string; pods: readonly PodRecord[]; host: string | undefined }[] = [
		{ name: "is nobody else for the lowest name", podName: "a", pods: [agentPod("b"), agentPod("a")], host: undefined },
		{
			name: "is the lowest name for the others",
			podName: "c",
			pods: [agentPod("c"), agentPod("b"), agentPod("a")],
			host: "a",
		},
		{
			name: "is no agent that is not ready",
			podName: "b",
			pods: [agentPod("a", { ready: false }), agentPod("b")],
			host: undefined,
		},
		{
			name: "is no agent that ends",
			podName: "b",
			pods: [agentPod("a", { terminating: true }), agentPod("b")],
			host: undefined,
		},
		{
			name: "is no other pod",
			podName: "b",
			pods: [agentPod("a", { labels: { app: "db" } }), agentPod("b")],
			host: undefined,
		},
		{
			name: "is no agent elsewhere",
			podName: "b",
			pods: [agentPod("a", { namespace: "other" }), agentPod("b")],
			host: undefined,
		},
		{
			name: "is another one while we are not ready ourselves",
			podName: "a",
			pods: [agentPod("a", { ready: false }), agentPod("b")],
			host: "b",
		},
	];
	for (const { name, podName, pods, host } of hosts) {
		test(name, async () => {
			const { replicas, looked } = replicasOf(podName, pods, { a: "127.0.0.1:1", b: "127.0.0.1:2" });
			replicas.lineHost();
			await soon();
			expect([replicas.lineHost() !== undefined, looked]).toEqual([host !== undefined, host ? [host] : []]);
		});
	}

	test("acquires at the other replica, as a call that was passed on", async () => {
		const local = createFakeCluster({ acquireHere: async () => samples.acquired });
		const agent = await serveAgent({ fleet, local });
		cleanups.push(() => agent[Symbol.asyncDispose]());
		const { replicas } = replicasOf("b", [agentPod("a"), agentPod("b")], { a: agent.peerAddress });
		replicas.lineHost();
		await soon();
		const signal = new AbortController().signal;
		const host = replicas.lineHost({ user: "alice", tokenId: "JTI=5" });
		expect(await host?.acquire(samples.acquireRequest, { wait: true, signal })).toEqual(samples.acquired);
		expect(local.asked.map(([method]) => method)).toEqual(["acquireHere"]);
		const [line = "{}"] = agent.audit;
		expect(JSON.parse(line)).toMatchObject({
			port: "peer",
			member: samples.clusterId,
			user: "alice",
			tokenId: "JTI=5",
		});
	});

	test("is left alone for a while when it does not answer, then asked for its address anew", async () => {
		const { replicas, clock, looked } = replicasOf("b", [agentPod("a"), agentPod("b")], { a: "127.0.0.1:1" });
		replicas.lineHost();
		await soon();
		const signal = new AbortController().signal;
		const acquired = replicas.lineHost()?.acquire(samples.acquireRequest, { wait: false, signal });
		await expect(acquired).rejects.toMatchObject({ reason: "AgentUnavailable" });
		expect(replicas.lineHost()).toBeUndefined();
		clock.time = 6_000;
		replicas.lineHost();
		await soon();
		expect(replicas.lineHost()).toBeDefined();
		expect(looked).toEqual(["a", "a"]);
	});

	test("is nobody while the address cannot be had, which is reported", async () => {
		const { replicas, reports } = replicasOf("b", [agentPod("a"), agentPod("b")]);
		replicas.lineHost();
		await soon();
		expect(replicas.lineHost()).toBeUndefined();
		expect(reports).toEqual([new Error("No address of a")]);
	});

	test("is the next one where the first has no address", async () => {
		const pods = [agentPod("a"), agentPod("b"), agentPod("c")];
		const { replicas } = replicasOf("c", pods, { a: undefined, b: "127.0.0.1:1" });
		for (let round = 0; round < 3; round++) {
			replicas.lineHost();
			await soon();
		}
		expect(replicas.lineHost()).toBeDefined();
	});
});
