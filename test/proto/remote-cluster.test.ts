import { promisify } from "node:util";
import { credentials, Metadata } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import type { PlaceInLine } from "../../disruption/budget/cluster.ts";
import { AgentProtocolError, AgentUnavailableError, LeaseLostError } from "../../disruption/errors.ts";
import { AgentServiceClient, type AgentServiceServer } from "../../proto/gen/xpdb/v1/agent.ts";
import { RemoteCluster, type RemoteClusterOptions } from "../../proto/remote-cluster.ts";
import { statusOfError } from "../../proto/status.ts";
import { acquisitionMessage, commitOutcomeMessage, grantMessage, placeMessage } from "../../proto/wire.ts";
import { acquiredMessage, budgetListMessage, countResponseMessage } from "../../proto/wire-calls.ts";
import { descriptionMessage } from "../../proto/wire-description.ts";
import { leaseListMessage } from "../../proto/wire-leases.ts";
import * as samples from "../support/samples.ts";
import { startScriptedAgent } from "../support/scripted-agent.ts";

const { clusterId, acquisition, acquireRequest, budget } = samples;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function connect(
	handlers: Partial<AgentServiceServer>,
	options: Partial<RemoteClusterOptions> = {},
): Promise<RemoteCluster> {
	const agent = await startScriptedAgent(handlers);
	cleanups.push(() => agent[Symbol.asyncDispose]());
	const client = new AgentServiceClient(agent.address, credentials.createInsecure());
	cleanups.push(() => client.close());
	// A test's deadline is for the answer. On a busy machine, connecting alone can take longer.
	await promisify(client.waitForReady.bind(client))(Date.now() + 30_000);
	const cluster = new RemoteCluster({ id: clusterId, name: "eu-1", client, ...options });
	cleanups.push(() => cluster.close());
	return cluster;
}

const waitInLine = (signal = new AbortController().signal) => ({ wait: true, signal });
const atOnce = { wait: false, signal: new AbortController().signal };
const acquiredResponse = {
	clusterId,
	outcome: { $case: "acquired", value: acquiredMessage(samples.acquired) },
} as const;
const heldResponse = (place: PlaceInLine) =>
	({ clusterId, outcome: { $case: "held", value: placeMessage(place) } }) as const;

describe("a call", () => {
	test("sends what was asked, to the cluster it is for, and reads the answer", async () => {
		const seen: unknown[] = [];
		const cluster = await connect({
			describe: ({ request }, answer) => {
				seen.push(request);
				answer(null, descriptionMessage(samples.description));
			},
			count: ({ request }, answer) => {
				seen.push(request.acquisition, request.nonce);
				answer(null, countResponseMessage(samples.count));
			},
			renew: ({ request }, answer) => {
				seen.push(request);
				answer(null, { clusterId });
			},
			commit: ({ request }, answer) => {
				seen.push(request);
				answer(null, { clusterId, outcome: commitOutcomeMessage({ kind: "full", reservations: 1500 }) });
			},
			release: ({ request }, answer) => {
				seen.push(request);
				answer(null, { clusterId });
			},
			confirm: ({ request }, answer) => {
				seen.push(request);
				answer(null, { clusterId, stands: true });
			},
			cancel: ({ request }, answer) => {
				seen.push(request);
				answer(null, { clusterId });
			},
			listBudgets: ({ request }, answer) => {
				seen.push(request);
				answer(null, budgetListMessage(budgetList));
			},
			endHolding: ({ request }, answer) => {
				seen.push(request);
				answer(null, { clusterId, ended: true });
			},
			listLeases: ({ request }, answer) => {
				seen.push(request);
				answer(null, leaseListMessage(clusterId, samples.leases));
			},
		});
		expect(await cluster.describe()).toEqual(samples.description);
		expect(await cluster.count(acquisition, acquireRequest)).toEqual(samples.count);
		expect(await cluster.look(acquireRequest)).toEqual(samples.count);
		await cluster.renew(acquisition);
		expect(await cluster.commit(acquisition, samples.grants)).toEqual({ kind: "full", reservations: 1500 });
		await cluster.release(acquisition);
		expect(await cluster.confirm(budget, ["grant-1"])).toBe(true);
		await cluster.cancel(budget, ["grant-1"], { sent: true });
		expect(await cluster.listBudgets(["shop"])).toEqual(budgetList);
		expect(await cluster.listLeases([budget, { namespace: "web" }])).toEqual(samples.leases);
		expect(await cluster.endHolding({ budget, leaseUid: "lease-uid", transitions: 3 })).toBe(true);
		const held = acquisitionMessage(acquisition);
		expect(seen).toEqual([
			{ clusterId, others: false },
			held,
			"nonce-1",
			undefined,
			"",
			{ clusterId, acquisition: held },
			{ clusterId, acquisition: held, grants: samples.grants.map(grantMessage) },
			{ clusterId, acquisition: held },
			{ clusterId, budget, ids: ["grant-1"] },
			{ clusterId, budget, ids: ["grant-1"], sent: true },
			{ clusterId, namespaces: ["shop"] },
			{ clusterId, budgets: [budget, { namespace: "web", name: "" }] },
			{ clusterId, budget, leaseUid: "lease-uid", transitions: 3 },
		]);
	});

	test("rejects with the error that the agent sent", async () => {
		const cluster = await connect({
			renew: (_call, answer) => answer(statusOfError(new LeaseLostError("cannot renew: taken over"))),
		});
		await expect(cluster.renew(acquisition)).rejects.toEqual(new LeaseLostError("cannot renew: taken over"));
	});

	test("refuses an answer of another cluster", async () => {
		const cluster = await connect({
			commit: (_call, answer) =>
				answer(null, { clusterId: "another", outcome: commitOutcomeMessage({ kind: "stood" }) }),
			confirm: (_call, answer) => answer(null, { clusterId: "", stands: true }),
			count: (_call, answer) =>
				answer(null, { ...countResponseMessage({ ...samples.count, clusterId: "another" }), clusterId }),
		});
		await expect(cluster.commit(acquisition, [])).rejects.toThrow('got "another"');
		await expect(cluster.confirm(budget, ["grant-1"])).rejects.toBeInstanceOf(AgentProtocolError);
		await expect(cluster.count(acquisition, acquireRequest)).rejects.toThrow('got "another"');
	});

	test("refuses an answer that says nothing", async () => {
		const cluster = await connect({
			commit: (_call, answer) => answer(null, { clusterId, outcome: undefined }),
			count: (_call, answer) => answer(null, { clusterId, count: undefined }),
		});
		await expect(cluster.commit(acquisition, [])).rejects.toThrow("outcome is missing");
		await expect(cluster.count(acquisition, acquireRequest)).rejects.toThrow(
			'cannot use the answer to Count of cluster "eu-1": cannot read message: count is missing',
		);
	});

	test("that the agent does not know is a matter of versions", async () => {
		const cluster = await connect({});
		await expect(cluster.renew(acquisition)).rejects.toBeInstanceOf(AgentProtocolError);
	});

	test("ends at its deadline", async () => {
		const cluster = await connect({ commit: () => undefined }, { deadlineMs: 50 });
		const error = await cluster.commit(acquisition, []).catch((reason: unknown) => reason);
		expect(error).toBeInstanceOf(AgentUnavailableError);
		expect(error).toMatchObject({
			cluster: "eu-1",
			// The server also knows the deadline. If its clock is first, the message names no time.
			message: expect.stringMatching(/none came (within \d+(\.\d)? s|in time)$/),
			silent: "unknown",
		});
	});

	test("has more time for a count whose agent shows that it is at it", async () => {
		const cluster = await connect(
			{
				count: (call, answer) => {
					call.sendMetadata(new Metadata());
					setTimeout(() => answer(null, countResponseMessage(samples.count)), 2_100);
				},
			},
			{ deadlineMs: 2_000 },
		);
		expect(await cluster.count(acquisition, acquireRequest)).toEqual(samples.count);
	});

	test("gives a count up whose agent shows no life", async () => {
		const cluster = await connect({ count: () => undefined }, { deadlineMs: 50 });
		const error = await cluster.count(acquisition, acquireRequest).catch((reason: unknown) => reason);
		expect(error).toBeInstanceOf(AgentUnavailableError);
		expect(error).toMatchObject({ message: expect.stringMatching(/none came within 0\.1 s$/), silent: "unknown" });
	});

	test("fails at once where nobody listens", async () => {
		const client = new AgentServiceClient("127.0.0.1:1", credentials.createInsecure());
		cleanups.push(() => client.close());
		const cluster = new RemoteCluster({ id: clusterId, name: "eu-1", client });
		await expect(cluster.renew(acquisition)).rejects.toBeInstanceOf(AgentUnavailableError);
	});

	test("that is open ends when the cluster is closed, and no other begins", async () => {
		const asked = Promise.withResolvers<void>();
		const cluster = await connect({ renew: () => asked.resolve() });
		const renewed = cluster.renew(acquisition);
		await asked.promise;
		cluster.close();
		await expect(renewed).rejects.toBeInstanceOf(AgentUnavailableError);
		await expect(cluster.renew(acquisition)).rejects.toThrow("the connection is closed");
	});
});

describe("acquire()", () => {
	test("gives the acquisition with its count", async () => {
		const cluster = await connect({
			acquire: (call) => {
				expect(call.request).toMatchObject({ clusterId, wait: false, holder: "drain-7f" });
				call.write(acquiredResponse);
				call.end();
			},
		});
		expect(await cluster.acquire(acquireRequest, atOnce)).toEqual(samples.acquired);
	});

	test("has more time where the agent shows at once that it is at it", async () => {
		const cluster = await connect(
			{
				acquire: (call) => {
					call.sendMetadata(new Metadata());
					setTimeout(() => {
						call.write(acquiredResponse);
						call.end();
					}, 2_100);
				},
			},
			{ deadlineMs: 2_000 },
		);
		expect(await cluster.acquire(acquireRequest, atOnce)).toEqual(samples.acquired);
	});

	test("gives up an agent that shows no life, who hears of it", async () => {
		const left = Promise.withResolvers<void>();
		const cluster = await connect(
			{ acquire: (call) => void call.on("cancelled", left.resolve) },
			{ deadlineMs: 2_000 },
		);
		await expect(cluster.acquire(acquireRequest, atOnce)).rejects.toThrow("none came within 2 s");
		await left.promise;
	});

	test("gives who holds it where it does not wait", async () => {
		const place = { position: 3, holder: "drain-8a", heldForMs: 120 };
		const cluster = await connect({
			acquire: (call) => {
				call.write(heldResponse(place));
				call.end();
			},
		});
		expect(await cluster.acquire(acquireRequest, atOnce)).toEqual({ kind: "held", ...place });
	});

	test("reports each place in line before it has its turn, without a deadline", async () => {
		const cluster = await connect(
			{
				acquire: (call) => {
					call.write(heldResponse({ position: 2, holder: "drain-8a", heldForMs: 1 }));
					call.write(heldResponse({ position: 1, holder: "", heldForMs: 0 }));
					setTimeout(() => {
						call.write(acquiredResponse);
						call.end();
					}, 100);
				},
			},
			{ deadlineMs: 20 },
		);
		const places: number[] = [];
		const outcome = await cluster.acquire(acquireRequest, {
			...waitInLine(),
			onQueued: ({ position }) => places.push(position),
		});
		expect(outcome.kind).toBe("acquired");
		expect(places).toEqual([2, 1]);
	});

	test("leaves the line when it is aborted", async () => {
		const left = Promise.withResolvers<void>();
		const cluster = await connect({
			acquire: (call) => {
				call.on("cancelled", () => left.resolve());
				call.write(heldResponse({ position: 1, holder: "drain-8a", heldForMs: 1 }));
			},
		});
		const controller = new AbortController();
		const reason = new Error("The person said no");
		const outcome = cluster.acquire(acquireRequest, {
			...waitInLine(controller.signal),
			onQueued: () => controller.abort(reason),
		});
		await expect(outcome).rejects.toBe(reason);
		await left.promise;
	});

	test("sends nothing where it is aborted already", async () => {
		const cluster = await connect({ acquire: () => expect.unreachable() });
		const reason = new Error("Too late");
		await expect(cluster.acquire(acquireRequest, waitInLine(AbortSignal.abort(reason)))).rejects.toBe(reason);
	});

	test("hangs up on an answer that it cannot use, so that the agent gives the lease back", async () => {
		const hungUp = Promise.withResolvers<void>();
		const cluster = await connect({
			acquire: (call) => {
				call.on("cancelled", () => hungUp.resolve());
				const other = { ...samples.acquired, acquisition: { ...acquisition, nonce: "nonce-2" } };
				call.write({ clusterId, outcome: { $case: "acquired", value: acquiredMessage(other) } });
			},
		});
		await expect(cluster.acquire(acquireRequest, waitInLine())).rejects.toBeInstanceOf(AgentProtocolError);
		await hungUp.promise;
	});

	test("refuses the count of another cluster", async () => {
		const cluster = await connect({
			acquire: (call) => {
				const other = { ...samples.acquired, count: { ...samples.count, clusterId: "another" } };
				call.write({ clusterId, outcome: { $case: "acquired", value: acquiredMessage(other) } });
				call.end();
			},
		});
		await expect(cluster.acquire(acquireRequest, atOnce)).rejects.toThrow('got "another"');
	});

	test("is no answer where the agent ends the wait", async () => {
		const cluster = await connect({
			acquire: (call) => {
				call.write(heldResponse({ position: 1, holder: "drain-8a", heldForMs: 1 }));
				call.end();
			},
		});
		await expect(cluster.acquire(acquireRequest, waitInLine())).rejects.toBeInstanceOf(AgentUnavailableError);
	});

	test("is no answer where the agent dies", async () => {
		const agent = await startScriptedAgent({
			acquire: (call) => call.write(heldResponse({ position: 1, holder: "drain-8a", heldForMs: 1 })),
		});
		const client = new AgentServiceClient(agent.address, credentials.createInsecure());
		cleanups.push(() => client.close());
		const cluster = new RemoteCluster({ id: clusterId, name: "eu-1", client });
		const outcome = cluster.acquire(acquireRequest, {
			...waitInLine(),
			onQueued: () => void agent[Symbol.asyncDispose](),
		});
		await expect(outcome).rejects.toBeInstanceOf(AgentUnavailableError);
	});

	test("says when the call was passed on already", async () => {
		const cluster = await connect(
			{
				acquire: (call) => {
					expect(call.metadata.get("xpdb-passed-on")).toEqual(["line"]);
					call.write(acquiredResponse);
					call.end();
				},
			},
			{ passedOn: "line" },
		);
		expect((await cluster.acquire(acquireRequest, atOnce)).kind).toBe("acquired");
	});
});

const budgetList = { clusterId, fleetHash: "5f", budgets: samples.count.budgets };
