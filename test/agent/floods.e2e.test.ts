// Tests that an agent withstands floods from strangers: it stays ready and below its memory limit, and keeps answering.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agentServerName, createAgentClient } from "../../proto/credentials.ts";
import { describeAgent } from "../../proto/remote-cluster.ts";
import { sendFlood, strangerFloods } from "../support/flood.ts";
import { memoryLimitMb, type RealAgent, startRealAgent } from "../support/real-agent.ts";
import { timeWithoutProcessorWaits } from "../support/time-without-processor-waits.ts";

let agent: RealAgent;
beforeEach(async () => {
	agent = await startRealAgent();
});
afterEach(async () => {
	await agent[Symbol.asyncDispose]();
});

interface Answers {
	/** The slowest answer to a member. `readyMs` is that to a kubelet. */
	readonly memberMs: number;
	readonly readyMs: number;
	readonly count: number;
}

/** Sends requests as a member and as a kubelet until `work` is done. */
async function answersDuring(work: Promise<void>): Promise<Answers> {
	const over = new AbortController();
	const ended = work.finally(() => over.abort());
	const { certificate, key: privateKey } = agent.pair;
	const newMember = () =>
		createAgentClient({
			address: `${agent.host}:${agent.ports.peers}`,
			serverName: agentServerName("xpdb-system"),
			ca: agent.fleetCertificate,
			identity: { kind: "certificate", certificate, privateKey },
		});
	const member = newMember();
	const ask = async (): Promise<void> => void (await describeAgent(member, { name: "c1" }));
	await ask();
	let count = 0;
	const now = () => timeWithoutProcessorWaits([agent.pid, process.pid]);
	const slowest = async (question: () => Promise<void>): Promise<number> => {
		let longestMs = 0;
		do {
			const startedAt = now();
			await question();
			longestMs = Math.max(longestMs, now() - startedAt);
			count++;
		} while (!over.signal.aborted);
		return longestMs;
	};
	try {
		const [memberMs, readyMs] = await Promise.all([
			slowest(ask),
			slowest(async () => {
				const ready = await fetch(`http://${agent.host}:${agent.ports.http}/readyz`, {
					headers: { connection: "close" },
					signal: AbortSignal.timeout(5_000),
				});
				expect([ready.status, await ready.text()]).toEqual([200, "ok\n"]);
			}),
			ended,
		]);
		return { memberMs, readyMs, count };
	} finally {
		member.close();
	}
}

const names = { 8443: "grpc", 8444: "peers", 8080: "http" } as const;

describe("a stranger", () => {
	for (const { port, kind, count, protocol } of strangerFloods) {
		test(`with ${count} ${kind} on port ${port} changes nothing for others`, async () => {
			const { host, ports } = agent;
			const bound = ports[names[port]];
			const answers = await answersDuring(sendFlood({ kind, protocol, host, port: bound, count, from: "127.66" }));
			expect(agent.restarts()).toBe(0);
			expect(agent.highestMb()).toBeLessThan(memoryLimitMb);
			expect(answers.memberMs).toBeLessThan(1_000);
			expect(answers.readyMs).toBeLessThan(1_000);
		});
	}
});
