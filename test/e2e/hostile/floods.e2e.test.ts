// Floods an agent's ports. The agent stays within its memory limit, its probes and metrics answer, and other users' drains continue.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { agentServerName, createAgentClient } from "../../../proto/credentials.ts";
import { describeAgent, RemoteCluster } from "../../../proto/remote-cluster.ts";
import { createAdminClient } from "../../controlplane/admin-client.ts";
import type { AgentInfo } from "../../controlplane/fleet-control.ts";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { sendFlood, strangerFloods } from "../../support/flood.ts";
import { timeWithoutProcessorWaits } from "../../support/time-without-processor-waits.ts";
import { fleetControl } from "../agents.ts";
import { createDatabase, type Database } from "../database.ts";
import { getJson, leasesPath } from "../get-json.ts";
import { eventually, kubectl } from "../kubectl.ts";
import { uncordonAll } from "../nodes.ts";
import { startPlugin } from "../plugin-process.ts";
import type { WatchedAgent } from "./agent-watch.ts";
import { createFlood, halfAMessage, madeUpToken } from "./flood.ts";
import { acquireRequestFor, agentFile, type Cluster, clusterOf, pairOf } from "./member-agent.ts";
import { expectToBeWell, firstAgent, memoryLimitMb, watchAgent } from "./watched-agent.ts";

/** Returns the number of TokenReviews that the API server has answered. */
async function tokenReviews(context: string): Promise<number> {
	const metrics = await kubectl(context, ["get", "--raw", "/metrics"]);
	const lines = metrics.split("\n").filter((line) => /^apiserver_request_total\{.*resource="tokenreviews"/.test(line));
	return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

async function tokenOf(cluster: Cluster): Promise<string> {
	const admin = createAdminClient(cluster);
	try {
		const path = "/api/v1/namespaces/xpdb-system/serviceaccounts/xpdb-operator/token";
		const { status } = await admin.send<{ status: { token: string } }>("POST", path, {
			apiVersion: "authentication.k8s.io/v1",
			kind: "TokenRequest",
			spec: { audiences: ["xpdb-agent"], expirationSeconds: 600 },
		});
		return status.token;
	} finally {
		admin.close();
	}
}

/** Returns the arguments to drain a node that has a pod of the database but not the watched agent. */
async function drainArgs(database: Database, { name, namespace }: AgentInfo): Promise<readonly string[]> {
	const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
	const { spec } = await getJson<{ readonly spec: { readonly nodeName: string } }>("c1", path);
	const pods = await database.pods();
	const found = pods.find(({ context, node }) => context === "c1" && node !== spec.nodeName);
	if (!found) throw new Error(`There is no pod of the database beside ${spec.nodeName}`);
	return ["drain", found.node, "--context", "c1-operator", "--ignore-daemonsets", "--timeout", "4m"];
}

/**
 * Calls Describe as another member until `work` ends. Returns the milliseconds of the slowest answer, without the time that agent and test
 * waited for a processor.
 */
async function slowestAnswerDuring(work: Promise<void>, { ip, pid }: WatchedAgent): Promise<number> {
	const now = () => timeWithoutProcessorWaits([pid, process.pid]);
	const over = new AbortController();
	const ended = work.finally(() => over.abort());
	const [c1, c2] = [clusterOf("c1"), clusterOf("c2")];
	const { certificate, key: privateKey } = pairOf(c2);
	const client = createAgentClient({
		address: `${ip}:8444`,
		serverName: agentServerName("xpdb-system"),
		ca: readFileSync(agentFile(c1, "fleet-ca.crt"), "utf8"),
		identity: { kind: "certificate", certificate, privateKey },
		member: c1.id,
	});
	let slowestMs = 0;
	try {
		await describeAgent(client, { name: "c1" });
		while (!over.signal.aborted) {
			const startedAt = now();
			await describeAgent(client, { name: "c1" });
			slowestMs = Math.max(slowestMs, now() - startedAt);
			await delay(20);
		}
		await ended;
		return slowestMs;
	} finally {
		client.close();
	}
}

describeOnFleet("a flood", () => {
	afterEach(uncordonAll);

	for (const { port, kind, count, protocol } of strangerFloods) {
		test(`of a stranger with ${count} ${kind} on port ${port} changes nothing for others`, async () => {
			const agent = await firstAgent(clusterOf("c1"));
			const endWatch = watchAgent(agent);
			const work = sendFlood({ kind, protocol, host: agent.ip, port, count, from: "127.66" });
			expect(await slowestAnswerDuring(work, agent)).toBeLessThan(1_000);
			const { highestMb, failedInARow } = await endWatch();
			expect(highestMb).toBeLessThan(memoryLimitMb);
			expect(failedInARow).toBeLessThan(3);
			const [same] = (await fleetControl().listAgents("c1")).filter(({ name }) => name === agent.name);
			expect(same).toMatchObject({ pid: agent.pid, ready: true });
		});
	}

	test("without a token: made-up ones, half-sent messages, connections that say nothing", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		const c1 = clusterOf("c1");
		const agent = await firstAgent(c1);
		const endWatch = watchAgent(agent);
		const reviewsBefore = await tokenReviews("c1");
		const startedAt = performance.now();
		using flood = createFlood(c1, agent.ip);
		using drain = startPlugin(await drainArgs(database, agent));
		const silent = Array.from({ length: 300 }, (_, index) => flood.open(`127.66.0.${1 + (index % 20)}`));
		const half = halfAMessage();
		for (let index = 0; index < 110; index++) {
			flood.call(flood.open(`127.66.1.${1 + (index % 50)}`), "Commit", madeUpToken(index))?.write(half);
		}
		for (let index = 0; index < 3_000; index++) {
			const session = silent[index % 30] ?? flood.open();
			flood.call(session, "Describe", madeUpToken(1_000 + index))?.end(Buffer.alloc(5));
			if (index % 300 === 0) await delay(100);
		}
		const result = await drain.finished;
		expect(result.code, result.stderr).toBe(0);
		expectToBeWell(await endWatch());
		// The limit is a burst of 60 and 20 per second, plus the reviews of real users.
		const seconds = (performance.now() - startedAt) / 1000;
		expect((await tokenReviews("c1")) - reviewsBefore).toBeLessThan(150 + 20 * seconds);
		expect(await database.violations(1)).toEqual([]);
	});

	test("with a token: half-sent messages, thousands who wait, Leases for made-up budgets", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		await using other = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const c1 = clusterOf("c1");
		const agent = await firstAgent(c1);
		const token = await tokenOf(c1);
		const leaseCount = async () =>
			(await getJson<{ readonly items: readonly unknown[] }>("c1", leasesPath())).items.length;
		const endWatch = watchAgent(agent);
		using flood = createFlood(c1, agent.ip);
		const half = halfAMessage();
		for (let index = 0; index < 110; index++) flood.call(flood.open(), "Commit", token)?.write(half);
		const clients = Array.from({ length: 5 }, () =>
			createAgentClient({
				address: `${agent.ip}:8443`,
				serverName: agentServerName("xpdb-system"),
				ca: readFileSync(agentFile(c1, "fleet-ca.crt"), "utf8"),
				identity: { kind: "token", token: async () => token },
			}),
		);
		try {
			const callers = clients.map((client) => new RemoteCluster({ id: c1.id, name: "c1", client }));
			const leave = new AbortController();
			let refused = 0;
			const waiting = callers.flatMap((caller, at) =>
				Array.from({ length: 800 }, async (_, index) => {
					const request = acquireRequestFor(other.namespace, `wait-${at}-${index}`);
					await caller.acquire(request, { wait: true, signal: leave.signal }).catch((error: unknown) => {
						if (error instanceof AgentUnavailableError) refused++;
					});
				}),
			);
			using drain = startPlugin(await drainArgs(database, agent));
			const before = await leaseCount();
			const madeUp = await Promise.allSettled(
				Array.from({ length: 200 }, async (_, index) => {
					const request = { ...acquireRequestFor(database.namespace, `made-up-${index}`) };
					const budget = { namespace: database.namespace, name: `made-up-${index}` };
					return callers[0]?.acquire({ ...request, budget }, { wait: false, signal: leave.signal });
				}),
			);
			expect(madeUp.every(({ status }) => status === "rejected")).toBe(true);
			expect((await leaseCount()) - before).toBeLessThan(5);
			const result = await drain.finished;
			expect(result.code, result.stderr).toBe(0);
			// The drain may end before the agent has refused all these calls, and aborted calls do not count.
			await eventually("all but those who may wait are refused", async () => refused > 3_000);
			leave.abort(new Error("It is over"));
			await Promise.all(waiting);
		} finally {
			for (const client of clients) client.close();
		}
		expectToBeWell(await endWatch());
		expect(await database.violations(1)).toEqual([]);
	});
});
