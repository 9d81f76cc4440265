import { describe, expect, test } from "vitest";
import { createAuthority, issueAgentCertificate } from "../../../demo/machine/certificates.ts";
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	LeaseLostError,
} from "../../../disruption/errors.ts";
import type { BudgetScope } from "../../../proto/listed-lease.ts";
import { describeAgent } from "../../../proto/remote-cluster.ts";
import { operator } from "../../support/build-caller.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import * as samples from "../../support/samples.ts";
import { servedAgents } from "../../support/served-agent.ts";

const { acquireRequest, acquisition, budget, grants } = samples;
const { fleet, serve } = servedAgents();
const never = new AbortController().signal;

describe("the service", () => {
	test("hands every call to its cluster as it was meant", async () => {
		const local = createFakeCluster();
		const caller = (await serve({ local })).asCaller();
		const outcome = await caller.acquire(acquireRequest, { wait: true, signal: never });
		expect(outcome).toEqual(samples.acquired);
		expect(await caller.count(acquisition, acquireRequest)).toEqual(samples.count);
		await caller.renew(acquisition);
		expect(await caller.commit(acquisition, grants)).toEqual({ kind: "stood" });
		await caller.release(acquisition);
		expect(await caller.confirm(budget, ["grant-1"])).toBe(true);
		await caller.cancel(budget, ["grant-1"], { sent: false });
		await caller.look(acquireRequest);
		await caller.describe();
		await caller.listBudgets(["shop"]);
		expect(await caller.listLeases([budget, { namespace: "web" }])).toEqual(samples.leases);
		const holding = { budget, leaseUid: "lease-uid", transitions: 3 };
		expect(await caller.endHolding(holding)).toBe(true);
		const { selector, candidates } = acquireRequest;
		expect(local.asked).toEqual([
			[
				"acquire",
				acquireRequest,
				expect.objectContaining({ wait: true }),
				{ user: operator.username, tokenId: "JTI=1" },
			],
			["count", acquisition, acquireRequest],
			["renew", acquisition],
			["commit", acquisition, grants, { user: operator.username, tokenId: "JTI=1" }],
			["release", acquisition],
			["confirm", budget, ["grant-1"]],
			["cancel", budget, ["grant-1"], { sent: false }],
			["look", { budget, selector, candidates }],
			["describe", undefined],
			["listBudgets", ["shop"]],
			["listLeases", [budget, { namespace: "web" }]],
			["endHolding", holding],
		]);
	});

	test("answers failures of the cluster with the same failures", async () => {
		const lost = new LeaseLostError("Lease was lost");
		const away = new AgentUnavailableError("No API server", "eu-1");
		const local = createFakeCluster({
			renew: () => Promise.reject(lost),
			acquire: () => Promise.reject(away),
		});
		const caller = (await serve({ local })).asCaller();
		await expect(caller.renew(acquisition)).rejects.toEqual(lost);
		await expect(caller.acquire(acquireRequest, { wait: false, signal: never })).rejects.toMatchObject({
			reason: "AgentUnavailable",
			message: "No API server",
			cluster: "eu-1",
		});
	});

	test("logs a bug, with its stack, and tells the caller nothing of it", async () => {
		const local = createFakeCluster({
			renew: () => Promise.reject(new TypeError("undefined is not a function")),
			acquire: () => Promise.reject(new TypeError("undefined is not a function")),
		});
		const agent = await serve({ local });
		const asked = [
			agent.asCaller().renew(acquisition),
			agent.asCaller().acquire(acquireRequest, { wait: true, signal: never }),
		];
		for (const call of asked) {
			const error = await call.catch((reason: unknown) => reason);
			expect(error).toBeInstanceOf(AgentUnavailableError);
			expect(String(error)).not.toContain("undefined is not a function");
		}
		expect(agent.log).toHaveLength(2);
		expect(agent.log[0]).toContain("agent-service.test.ts");
	});

	test("measures calls by method, port and status", async () => {
		const local = createFakeCluster({ renew: () => Promise.reject(new LeaseLostError("Lease was lost")) });
		const agent = await serve({ local });
		const caller = agent.asCaller();
		await caller.acquire(acquireRequest, { wait: true, signal: never });
		await caller.renew(acquisition).catch(() => undefined);
		await caller.commit(acquisition, grants);
		const text = await agent.metrics.registry.metrics();
		expect(text).toContain('xpdb_call_seconds_count{method="Renew",port="token",code="ABORTED"} 1');
		expect(text).toContain('xpdb_acquires_total{outcome="acquired"} 1');
		expect(text).toContain('xpdb_commits_total{outcome="stood"} 1');
		expect(text).toContain("xpdb_grants_total 2");
		expect(text).toContain("xpdb_lease_held_seconds_count 1");
	});
});

describe("the token port", () => {
	test("turns away who is unknown, with the reason", async () => {
		const local = createFakeCluster();
		const agent = await serve({ local, verdict: { kind: "unauthenticated", reason: "Unknown token" } });
		await expect(agent.asCaller().describe()).rejects.toEqual(new AgentForbiddenError("Unknown token"));
		const acquired = agent.asCaller().acquire(acquireRequest, { wait: true, signal: never });
		await expect(acquired).rejects.toBeInstanceOf(AgentForbiddenError);
		expect(local.asked).toEqual([]);
	});

	test("does nothing about a budget for who has no right to it, here or through another member", async () => {
		const local = createFakeCluster();
		const other = createFakeCluster({}, "another-id", "eu-2");
		const refusal = ({ namespace, name = "" }: BudgetScope) => `No right to ${namespace}/${name}`;
		const agent = await serve({ local, members: [other], refusal });
		for (const caller of [agent.asCaller(), agent.asCaller({ id: "another-id", name: "eu-2" })]) {
			const calls = [
				caller.acquire(acquireRequest, { wait: true, signal: never }),
				caller.count(acquisition, acquireRequest),
				caller.look(acquireRequest),
				caller.renew(acquisition),
				caller.commit(acquisition, grants),
				caller.release(acquisition),
				caller.confirm(budget, ["grant-1"]),
				caller.cancel(budget, ["grant-1"], { sent: false }),
				caller.listLeases([budget]),
				caller.endHolding({ budget, leaseUid: "lease-uid", transitions: 3 }),
			];
			for (const call of calls) {
				await expect(call).rejects.toEqual(new AgentForbiddenError(`No right to ${budget.namespace}/${budget.name}`));
			}
		}
		expect([...local.asked, ...other.asked]).toEqual([]);
	});

	test("tells whoever has a token who it is and which budgets there are", async () => {
		const local = createFakeCluster();
		const caller = (await serve({ local, refusal: () => "No right" })).asCaller();
		await caller.describe();
		await caller.listBudgets([]);
		expect(local.asked.map(([method]) => method)).toEqual(["describe", "listBudgets"]);
	});

	test("lists Leases for who has the right to all that was asked for, and all of them for who has it everywhere", async () => {
		const local = createFakeCluster();
		const asked: BudgetScope[] = [];
		const refusal = (scope: BudgetScope) => {
			asked.push(scope);
			return scope.namespace === "shop" ? undefined : `No right to ${scope.namespace || "all"}`;
		};
		const caller = (await serve({ local, refusal })).asCaller();
		await caller.listLeases([{ namespace: "shop" }, budget]);
		await expect(caller.listLeases([budget, { namespace: "web" }])).rejects.toEqual(
			new AgentForbiddenError("No right to web"),
		);
		await expect(caller.listLeases([])).rejects.toEqual(new AgentForbiddenError("No right to all"));
		expect(asked).toEqual([{ namespace: "shop" }, budget, budget, { namespace: "web" }, { namespace: "" }]);
		expect(local.asked).toHaveLength(1);
	});

	test("ends what others hold for who may release, which is more than to decide", async () => {
		const local = createFakeCluster();
		const refusal = (_budget: BudgetScope, verb = "acquire") =>
			verb === "acquire" ? undefined : "No right to release";
		const caller = (await serve({ local, refusal })).asCaller();
		await caller.release(acquisition);
		const ended = caller.endHolding({ budget, leaseUid: "lease-uid", transitions: 3 });
		await expect(ended).rejects.toEqual(new AgentForbiddenError("No right to release"));
		expect(local.asked).toEqual([["release", acquisition]]);
	});

	test("passes calls for another member on to it", async () => {
		const local = createFakeCluster();
		const other = createFakeCluster({}, "another-id", "eu-2");
		const caller = (await serve({ local, members: [other] })).asCaller({ id: "another-id", name: "eu-2" });
		expect((await caller.describe()).clusterName).toBe("eu-2");
		expect((await caller.acquire(acquireRequest, { wait: false, signal: never })).kind).toBe("acquired");
		await caller.commit(acquisition, []);
		expect(local.asked).toEqual([]);
		expect(other.asked.map(([method]) => method)).toEqual(["describe", "acquire", "commit"]);
	});

	test("asks the other members for whoever meets it, and nobody for who asks about another member", async () => {
		const local = createFakeCluster();
		const other = createFakeCluster({}, "another-id", "eu-2");
		const agent = await serve({ local, members: [other] });
		const question = { name: "eu-1", budgetsOf: ["shop"], others: true };
		const told = await describeAgent(agent.clientForCallers(), question);
		expect(told.others).toEqual([expect.objectContaining({ clusterName: "eu-2" })]);
		expect([...local.asked, ...other.asked]).toEqual([
			["describe", ["shop"]],
			["describe", ["shop"]],
		]);
		const through = agent.asCaller({ id: "another-id", name: "eu-2" });
		expect(await through.describe(["shop"])).not.toHaveProperty("others");
		expect(local.asked).toHaveLength(1);
		const garbled = describeAgent(agent.clientForCallers(), { ...question, budgetsOf: ["no namespace"] });
		await expect(garbled).rejects.toBeInstanceOf(AgentProtocolError);
	});

	test("passes renewals, and nothing else, on to where the member was last", async () => {
		const ways: boolean[] = [];
		const other = createFakeCluster({}, "another-id", "eu-2");
		const agent = await serve({ members: [other], onPassedOn: ({ renews = false }) => ways.push(renews) });
		const caller = agent.asCaller({ id: "another-id", name: "eu-2" });
		await caller.renew(acquisition);
		await caller.count(acquisition, acquireRequest);
		await caller.commit(acquisition, []);
		await caller.release(acquisition);
		expect(ways).toEqual([true, false, false, false]);
	});
});

describe("the peer port", () => {
	test("lets in a member, on whose behalf it says, and nobody who is no member (any more)", async () => {
		const local = createFakeCluster();
		const pair = await issueAgentCertificate(fleet(), { clusterId: "peer-id" });
		const onBehalfOf = { user: "system:serviceaccount:xpdb-system:jürgen", tokenId: "JTI=1" };
		const fleetMembers = [{ id: "peer-id", name: "eu-2" }];
		const agent = await serve({ local, fleetMembers });
		const peer = agent.asPeer({ pair, onBehalfOf });
		await peer.acquire(acquireRequest, { wait: false, signal: never });
		fleetMembers.pop();
		const calls = [
			peer.acquire(acquireRequest, { wait: true, signal: never }),
			peer.count(acquisition, acquireRequest),
			peer.commit(acquisition, grants),
		];
		for (const call of calls) {
			await expect(call).rejects.toBeInstanceOf(AgentForbiddenError);
			await expect(call).rejects.toThrow(
				'cannot serve the agents of cluster id "peer-id": it is not a member of the fleet',
			);
		}
		expect(local.asked.map(([method]) => method)).toEqual(["acquire"]);
	});

	test("asks nobody else for a member that asks, so that no question goes round in circles", async () => {
		const [local, other] = [createFakeCluster(), createFakeCluster({}, "another-id", "eu-2")];
		const agent = await serve({ local, members: [other] });
		const client = agent.clientForPeers();
		expect(await describeAgent(client, { name: "eu-1", others: true })).not.toHaveProperty("others");
		expect([local.asked.length, other.asked]).toEqual([1, []]);
	});

	test("lets in agents of the fleet", async () => {
		const agent = await serve();
		expect((await agent.asPeer().describe()).clusterName).toBe("eu-1");
	});

	test("turns away other certificates of the same CA, and those of another one", async () => {
		const agent = await serve();
		const pair = await fleet().issue({ commonName: "web", dnsNames: ["web.svc"], usages: ["client"] });
		await expect(agent.asPeer({ pair }).describe()).rejects.toEqual(
			new AgentForbiddenError('cannot serve a peer without a certificate for "xpdb-agent.xpdb-system.svc"'),
		);
		const stranger = await createAuthority("stranger");
		const forged = await stranger.issue({
			commonName: "xpdb-agent",
			dnsNames: ["xpdb-agent.xpdb-system.svc"],
			usages: ["client"],
		});
		await expect(agent.asPeer({ pair: forged }).describe()).rejects.toBeInstanceOf(AgentUnavailableError);
	});

	test("passes no call on a second time", async () => {
		const local = createFakeCluster();
		const other = createFakeCluster({}, "another-id", "eu-2");
		const agent = await serve({ local, members: [other] });
		const asked = agent.asPeer({ id: "another-id" }).describe();
		await expect(asked).rejects.toBeInstanceOf(AgentProtocolError);
		await expect(asked).rejects.toThrow("cannot pass a call on a second time");
		expect([...local.asked, ...other.asked]).toEqual([]);
	});

	test("acquires here what another replica passed on, and in line what another member passed on", async () => {
		const local = createFakeCluster({ acquireHere: async () => samples.acquired });
		const agent = await serve({ local });
		await agent.asPeer({ passedOn: "line" }).acquire(acquireRequest, { wait: true, signal: never });
		await agent.asPeer().acquire(acquireRequest, { wait: true, signal: never });
		// Any caller can send this header, but an agent obeys it only on the port for other agents.
		await agent.asCaller({ passedOn: "line" }).acquire(acquireRequest, { wait: true, signal: never });
		expect(local.asked.map(([method]) => method)).toEqual(["acquireHere", "acquire", "acquire"]);
	});
});
