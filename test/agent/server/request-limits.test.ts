import { Metadata, status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { AgentProtocolError } from "../../../disruption/errors.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import * as samples from "../../support/samples.ts";
import { type ServedAgent, servedAgents } from "../../support/served-agent.ts";

const { acquireRequest, acquisition, budget, grants } = samples;
const { serve } = servedAgents();
const never = new AbortController().signal;

describe("requests that are too much or no good", () => {
	const pod = samples.pod("db-0");
	const candidates = Array.from({ length: 1_001 }, (_, index) => samples.pod(`db-${index}`));
	const [grant] = grants;
	const rows: { name: string; why: string; ask: (agent: ServedAgent) => Promise<unknown> }[] = [
		{
			name: "1,001 candidates",
			why: "candidates has 1001 items, more than 1000",
			ask: (agent) => agent.asCaller().acquire({ ...acquireRequest, candidates }, { wait: true, signal: never }),
		},
		{
			name: "1,001 candidates for a look",
			why: "candidates has 1001 items",
			ask: (agent) => agent.asCaller().look({ ...acquireRequest, candidates }),
		},
		{
			name: "a candidate of another namespace",
			why: `candidates.pod.namespace is not the budget's, "shop": "other"`,
			ask: (agent) => agent.asCaller().look({ ...acquireRequest, candidates: [{ ...pod, namespace: "other" }] }),
		},
		{
			name: "a budget whose name is none",
			why: 'budget.name is not the name of an object: "a/b"',
			ask: (agent) => agent.asCaller().confirm({ namespace: "shop", name: "a/b" }, ["grant-1"]),
		},
		{
			name: "a namespace that is none",
			why: "budget.namespace is not the name of a namespace",
			ask: (agent) => agent.asCaller().renew({ ...acquisition, budget: { namespace: "Shop.a", name: "db" } }),
		},
		{
			name: "a holder with control characters",
			why: "holder is longer than 253 characters or has control characters",
			ask: (agent) =>
				agent.asCaller().acquire({ ...acquireRequest, holder: "a\u001b[31m" }, { wait: true, signal: never }),
		},
		{
			name: "a nonce that is none",
			why: "nonce is not an id",
			ask: (agent) => agent.asCaller().acquire({ ...acquireRequest, nonce: "a b" }, { wait: true, signal: never }),
		},
		{
			name: "a nonce that is too long",
			why: "nonce is not an id",
			ask: (agent) => agent.asCaller().release({ ...acquisition, nonce: "a".repeat(65) }),
		},
		{
			name: "1,001 grants",
			why: "grants has 1001 items",
			ask: (agent) =>
				agent.asCaller().commit(
					acquisition,
					candidates.map((each, index) => ({ id: `g-${index}`, pod: each, resourceVersion: "1" })),
				),
		},
		{
			name: "one grant twice",
			why: "grants.id is there twice",
			ask: (agent) => agent.asCaller().commit(acquisition, grant ? [grant, grant] : []),
		},
		{
			name: "two grants of one pod",
			why: "grants.pod is there twice",
			ask: (agent) => agent.asCaller().commit(acquisition, grant ? [grant, { ...grant, id: "grant-9" }] : []),
		},
		{
			name: "a grant in another namespace",
			why: "grants.pod.namespace is not the budget's",
			ask: (agent) =>
				agent.asCaller().commit(acquisition, grant ? [{ ...grant, pod: { ...grant.pod, namespace: "other" } }] : []),
		},
		{ name: "no ids", why: "ids is empty", ask: (agent) => agent.asCaller().confirm(budget, []) },
		{
			name: "an id that is none",
			why: "ids is not an id",
			ask: (agent) => agent.asCaller().cancel(budget, ["../x"], { sent: true }),
		},
		{
			name: "a count for another budget than the acquisition's",
			why: "acquisition.budget is not the budget to count for",
			ask: (agent) =>
				agent.asCaller().count(acquisition, {
					...acquireRequest,
					budget: { namespace: "shop", name: "web" },
				}),
		},
		// A bad value would stay in the Lease, where no count could read it.
		...[
			{ name: "name", with: { name: "../x" } },
			{ name: "kind", with: { kind: "a/b" } },
			{ name: "api_version", with: { apiVersion: "apps v1" } },
			{ name: "uid", with: { uid: "a b" } },
		].map(({ name, with: part }) => ({
			name: `a grant whose controller's ${name} is none`,
			why: `grants.controller.${name} is n`,
			ask: (agent: ServedAgent) =>
				agent.asCaller().commit(acquisition, [
					{
						id: "grant-1",
						pod: samples.pod("db-0"),
						resourceVersion: "7",
						controller: { ...samples.controller, ...part },
					},
				]),
		})),
		{
			name: "a namespace to list that is none",
			why: "namespaces is not the name of a namespace",
			ask: (agent) => agent.asCaller().listBudgets(["a/../b"]),
		},
	];
	for (const { name, why, ask } of rows) {
		test(`are refused: ${name}`, async () => {
			const local = createFakeCluster();
			const asked = ask(await serve({ local }));
			await expect(asked).rejects.toBeInstanceOf(AgentProtocolError);
			await expect(asked).rejects.toThrow(why);
			expect(local.asked).toEqual([]);
		});
	}

	test("are refused where a field is missing that no default may stand for", async () => {
		const local = createFakeCluster();
		const agent = await serve({ local });
		const sent = await new Promise<{ code: status; details: string } | null>((resolve) => {
			agent
				.clientForCallers()
				.cancel({ clusterId: "", budget, ids: ["grant-1"], sent: undefined }, new Metadata(), {}, (error) =>
					resolve(error),
				);
		});
		expect(sent).toMatchObject({ code: status.INVALID_ARGUMENT, details: "cannot read message: sent is missing" });
		expect(local.asked).toEqual([]);
	});
});
