import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { credentials, status } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { meet, descriptionsById } from "../../../plugin/fleet/meeting.ts";
import { AgentServiceClient, type AgentServiceServer } from "../../../proto/gen/xpdb/v1/agent.ts";
import { descriptionMessage } from "../../../proto/wire-description.ts";
import * as samples from "../../support/samples.ts";
import { startScriptedAgent } from "../../support/scripted-agent.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function clientOf(describe: NonNullable<AgentServiceServer["describe"]>): Promise<AgentServiceClient> {
	const agent = await startScriptedAgent({ describe });
	cleanups.push(() => agent[Symbol.asyncDispose]());
	const client = new AgentServiceClient(agent.address, credentials.createInsecure());
	cleanups.push(() => client.close());
	return client;
}

const asked = (problem?: string) => ({
	name: "eu",
	dialer: { problem },
	question: { budgetsOf: ["shop"], others: true },
});

describe("meet()", () => {
	test("is as old as the question that was answered, not as the answer, nor as one before that got none", async () => {
		const questionsAt: number[] = [];
		let answeredAt = 0;
		const client = await clientOf((_call, answer) => {
			questionsAt.push(performance.now());
			if (questionsAt.length === 1) answer({ code: status.UNAVAILABLE });
			else {
				setImmediate(() => {
					answeredAt = performance.now();
					answer(null, descriptionMessage(samples.introduction));
				});
			}
		});
		const { description, askedAt, tookMs } = await meet(client, asked());
		const [first = 0, second = 0, ...more] = questionsAt;
		expect(more).toEqual([]);
		expect(description).toEqual(samples.introduction);
		expect(askedAt).toBeGreaterThan(first);
		expect(askedAt).toBeLessThanOrEqual(second);
		expect(askedAt + tookMs).toBeGreaterThanOrEqual(answeredAt);
	});

	test("comes to the agents also where the first connection breaks as it begins, as that to one which is being replaced", async () => {
		const agent = await startScriptedAgent({
			describe: (_call, answer) => answer(null, descriptionMessage(samples.introduction)),
		});
		cleanups.push(() => agent[Symbol.asyncDispose]());
		const [host, port] = agent.address.split(":");
		let connections = 0;
		const way = createServer((socket) => {
			connections += 1;
			if (connections === 1) {
				socket.destroy();
				return;
			}
			const onward = connect(Number(port), host);
			for (const each of [socket, onward]) each.on("error", () => each.destroy());
			socket.pipe(onward).pipe(socket);
		});
		way.listen(0, "127.0.0.1");
		await once(way, "listening");
		cleanups.push(() => way.close());
		const client = new AgentServiceClient(
			`127.0.0.1:${(way.address() as AddressInfo).port}`,
			credentials.createInsecure(),
			{ "grpc.initial_reconnect_backoff_ms": 100 },
		);
		cleanups.push(() => client.close());
		expect((await meet(client, asked())).description).toEqual(samples.introduction);
		expect(connections).toBe(2);
	});

	test("gives up after three questions, and says why nobody was reached", async () => {
		let questions = 0;
		const client = await clientOf((_call, answer) => {
			questions += 1;
			answer({ code: status.UNAVAILABLE });
		});
		const met = meet(client, asked("pod xpdb-agent-1 is gone"));
		await expect(met).rejects.toThrow("the agent gave no answer: pod xpdb-agent-1 is gone");
		await expect(met).rejects.toBeInstanceOf(AgentUnavailableError);
		expect(questions).toBe(3);
	});
});

describe("descriptionsById()", () => {
	test("has each member's own word before what another one heard of it", () => {
		const us = { ...samples.description, clusterId: "us-id" };
		const old = { ...us, version: "0.0.1" };
		const eu = { ...samples.description, others: [old] };
		const said = descriptionsById([
			{ description: eu, askedAt: 1, tookMs: 2 },
			{ description: us, askedAt: 3, tookMs: 4 },
		]);
		expect(said.get("us-id")).toMatchObject({ description: us, tookMs: 4 });
		expect([...said.keys()].toSorted()).toEqual([samples.clusterId, "us-id"].toSorted());
	});
});
