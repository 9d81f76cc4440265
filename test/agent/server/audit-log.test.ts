import { describe, expect, test } from "vitest";
import { createLogger } from "../../../agent/process/log.ts";
import { createAuditLog } from "../../../agent/server/audit-log.ts";
import { AgentForbiddenError, AgentUnavailableError } from "../../../disruption/errors.ts";
import { RemoteCluster } from "../../../proto/remote-cluster.ts";
import { statusOfError } from "../../../proto/status.ts";
import { buildTokenCaller, operator } from "../../support/build-caller.ts";
import { shortToken } from "../../support/build-token.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import * as samples from "../../support/samples.ts";
import { servedAgents } from "../../support/served-agent.ts";

const { acquireRequest, acquisition, budget, clusterId, grants } = samples;
const { serve } = servedAgents();
const never = new AbortController().signal;
const verified = { user: operator.username, tokenId: "JTI=1" };

function readLines(lines: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
	return lines
		.map((line): Record<string, unknown> => JSON.parse(line))
		.map(({ time, level, msg, audit, ...rest }) => {
			expect([typeof time, level, msg, audit]).toEqual(["string", "info", "Audit", true]);
			return rest;
		});
}

describe("audit lines", () => {
	test("tell each acquire, commit, cancel and end of a holding, and nothing of what only reads", async () => {
		const agent = await serve();
		const caller = agent.asCaller();
		await caller.describe();
		await caller.listBudgets([]);
		await caller.acquire(acquireRequest, { wait: true, signal: never });
		await caller.count(acquisition, acquireRequest);
		await caller.renew(acquisition);
		await caller.commit(acquisition, grants);
		await caller.confirm(budget, ["grant-1"]);
		await caller.cancel(budget, ["grant-1", "grant-2"], { sent: true });
		await caller.release(acquisition);
		await caller.endHolding({ budget, leaseUid: acquisition.leaseUid, transitions: 7 });
		const about = { port: "token", ...verified, cluster: clusterId, budget: "shop/db" };
		const { leaseTransitions: transitions } = acquisition;
		expect(readLines(agent.audit)).toEqual([
			{
				method: "Acquire",
				...about,
				candidates: acquireRequest.candidates.length,
				claimedHolder: acquireRequest.holder,
				transitions,
				outcome: "acquired",
			},
			{ method: "Commit", ...about, grants: grants.length, transitions, outcome: "stood" },
			{ method: "Cancel", ...about, ids: 2, sent: true, outcome: "cancelled" },
			{ method: "EndHolding", ...about, transitions: 7, outcome: "ended" },
		]);
	});

	test("tell who asked in vain, whatever it was", async () => {
		const unknown = await serve({ verdict: { kind: "unauthenticated", reason: "Unknown token" } });
		await expect(unknown.asCaller().describe()).rejects.toBeInstanceOf(AgentForbiddenError);
		expect(readLines(unknown.audit)).toEqual([
			{
				method: "Describe",
				port: "token",
				outcome: "refused",
				code: "UNAUTHENTICATED",
				why: "Unknown token",
			},
		]);
		const stranger = await serve({ refusal: () => "No right" });
		await expect(stranger.asCaller().renew(acquisition)).rejects.toBeInstanceOf(AgentForbiddenError);
		const about = { port: "token", ...verified, cluster: clusterId };
		expect(readLines(stranger.audit)).toEqual([
			{ method: "Renew", ...about, budget: "shop/db", outcome: "refused", code: "PERMISSION_DENIED", why: "No right" },
		]);
		const garbled = await serve();
		const ids = Array.from({ length: 1_001 }, (_, index) => `id-${index}`);
		await garbled
			.asCaller()
			.cancel(budget, ids, { sent: false })
			.catch(() => undefined);
		expect(readLines(garbled.audit)).toMatchObject([
			{ method: "Cancel", ...about, outcome: "refused", code: "INVALID_ARGUMENT" },
		]);
	});

	test("tell what failed, and which agent passed a call on", async () => {
		const local = createFakeCluster({
			commit: () => Promise.reject(new AgentUnavailableError("No API server", "eu-1")),
		});
		const agent = await serve({ local });
		await agent
			.asPeer()
			.commit(acquisition, grants)
			.catch(() => undefined);
		expect(readLines(agent.audit)).toMatchObject([
			{ method: "Commit", port: "peer", member: expect.any(String), outcome: "failed", code: "UNAVAILABLE" },
		]);
	});

	test("have no token in them, and neither has the rest of the log", async () => {
		const token = shortToken("secret");
		const local = createFakeCluster({ renew: () => Promise.reject(new TypeError(`No such thing as ${token}`)) });
		const agent = await serve({ local, refusal: ({ name }) => (name === "other" ? `Bearer ${token}` : undefined) });
		const client = agent.clientForCallers(token);
		const caller = new RemoteCluster({ id: clusterId, name: "eu-1", client });
		await caller.acquire({ ...acquireRequest, holder: token.slice(0, 250) }, { wait: true, signal: never });
		await caller.renew(acquisition).catch(() => undefined);
		await caller.cancel({ ...budget, name: "other" }, ["a"], { sent: false }).catch(() => undefined);
		expect([agent.audit.length, agent.log.length]).toEqual([2, 1]);
		const payload = token.split(".")[1] ?? "";
		expect([...agent.audit, ...agent.log].join("")).not.toContain(payload);
	});

	test("are short whatever callers are called, and are there at any level of the log", () => {
		const lines: string[] = [];
		const audit = createAuditLog(createLogger("error", { write: (line) => void lines.push(line) }));
		const long = "x".repeat(100_000);
		const user = { ...operator, username: long };
		audit.ended(
			{
				method: "Acquire",
				port: "token",
				caller: buildTokenCaller({ user, tokenId: long }),
				cluster: long,
				budget: { namespace: long, name: long },
				details: { claimedHolder: long },
			},
			statusOfError(new AgentForbiddenError(long)),
		);
		expect(lines).toHaveLength(1);
		expect(lines[0]?.length).toBeLessThan(3_000);
	});
});
