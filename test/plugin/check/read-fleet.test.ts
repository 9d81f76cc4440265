import { credentials, status } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import type { AgentAccess } from "../../../plugin/fleet/agent-access.ts";
import { judgeWay } from "../../../plugin/check/judge-fleet.ts";
import { readFleet, readPeers } from "../../../plugin/check/read-fleet.ts";
import { AgentServiceClient } from "../../../proto/gen/xpdb/v1/agent.ts";
import { descriptionMessage } from "../../../proto/wire-description.ts";
import { newContext } from "../../support/build-context.ts";
import { fullDescription } from "../../support/samples.ts";
import { startScriptedAgent } from "../../support/scripted-agent.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const peer = { ...fullDescription, clusterId: "2", clusterName: "m2" };
const members = ["1", "2"].map((id) => ({ id, name: `m${id}`, address: `m${id}:8444` }));

/** Starts an agent of the first member that gives these answers about the second in turn. The last one repeats. */
async function agentsOf(...answers: readonly (status | "well")[]) {
	const seen: string[] = [];
	const agent = await startScriptedAgent({
		describe: ({ request }, answer) => {
			seen.push(request.clusterId);
			const next = answers[Math.min(seen.length, answers.length) - 1];
			if (next === "well") answer(null, descriptionMessage(peer));
			else answer({ code: next ?? status.INTERNAL, details: "no connection" });
		},
	});
	cleanups.push(() => agent[Symbol.asyncDispose]());
	const client = new AgentServiceClient(agent.address, credentials.createInsecure());
	cleanups.push(() => client.close());
	const access: AgentAccess = {
		kind: "reached",
		context: newContext("eu"),
		description: { ...fullDescription, clusterId: "1", members },
		askedAt: 0,
		tookMs: 5,
		client,
		namespaces: ["xpdb-system"],
		leave: () => undefined,
		close: () => undefined,
	};
	return { seen, access };
}

async function askThrough(...answers: readonly (status | "well")[]) {
	const { seen, access } = await agentsOf(...answers);
	return { seen, peers: await readPeers(access) };
}

describe("readPeers()", () => {
	test("asks each other member once that answers", async () => {
		const { seen, peers } = await askThrough("well");
		expect(peers).toMatchObject([{ member: "m2", answer: { kind: "read", value: { clusterId: "2" } } }]);
		expect(seen).toEqual(["2"]);
	});

	test("gives agents whose connection is still being made the time that it takes", async () => {
		const { seen, peers } = await askThrough(status.UNAVAILABLE, status.UNAVAILABLE, "well");
		expect(peers).toMatchObject([{ member: "m2", answer: { kind: "read" } }]);
		expect(seen).toHaveLength(3);
	});

	test("says of one that stays silent that it is not reached", async () => {
		const { seen, peers } = await askThrough(status.UNAVAILABLE);
		expect(peers).toMatchObject([{ member: "m2", answer: { kind: "unread" } }]);
		expect(seen).toHaveLength(3);
	});

	test("asks nobody twice who refuses", async () => {
		const { seen, peers } = await askThrough(status.PERMISSION_DENIED, "well");
		expect(peers).toMatchObject([{ member: "m2", answer: { kind: "unread" } }]);
		expect(seen).toHaveLength(1);
	});

	test("knows nothing through agents that were not reached", async () => {
		expect(await readPeers({ kind: "none", context: newContext("eu") })).toBeUndefined();
	});
});

describe("readFleet()", () => {
	test("shows one column for a cluster whose agents do not answer behind its own context, by what another member's agents say", async () => {
		const { access } = await agentsOf("well");
		const failed = { kind: "failed", context: newContext("ap"), problem: "no agent answers" } as const;
		const accesses = [["eu", access] as const, ["ap", failed] as const];
		for (const ids of [new Map<string, string>(), new Map([["ap", "2"]])]) {
			expect(await readFleet(accesses, ids)).toMatchObject([
				{ name: "eu", context: "eu", listed: { name: "m1" } },
				{ name: "ap", context: "ap", listed: { name: "m2" }, description: { kind: "read" } },
			]);
		}
	});

	test("says of a member without a context that no context leads there only where all of them have answered", async () => {
		const { access } = await agentsOf("well");
		const none = (name: string) =>
			[name, { kind: "failed", context: newContext(name), problem: "no agent answers" }] as const;
		const columns = await readFleet([["eu", access], none("ap"), none("us")], new Map());
		const [, , , member] = columns;
		expect(columns.map(({ name }) => name)).toEqual(["eu", "ap", "us", "m2"]);
		expect(member && judgeWay(member)).toEqual({
			text: "?",
			findings: [
				{
					reason: "NotChecked",
					message: 'context "ap" or "us" may lead to member m2, and gives no answer',
					fix: undefined,
				},
			],
		});
	});
});
