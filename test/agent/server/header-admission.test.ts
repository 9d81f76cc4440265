// Tests a real server with HTTP/2 clients, because they can send what a gRPC client never sends.
import { once } from "node:events";
import { type ClientHttp2Stream, connect, constants } from "node:http2";
import { ServerCredentials } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { createLogger } from "../../../agent/process/log.ts";
import { createMetrics } from "../../../agent/process/metrics.ts";
import { createAuditLog } from "../../../agent/server/audit-log.ts";
import { createCallWatcher } from "../../../agent/server/call-watcher.ts";
import type { Admission } from "../../../agent/peers/caller.ts";
import { createTokenGate, type Gate } from "../../../agent/server/gate.ts";
import { HeldLeases } from "../../../agent/server/held-leases.ts";
import { OpenCalls } from "../../../agent/server/open-calls.ts";
import { startAgentServer } from "../../../agent/server/server.ts";
import { unauthenticatedStatus } from "../../../proto/status.ts";
import { buildTokenCaller } from "../../support/build-caller.ts";
import { createFakeCluster, type FakeCluster } from "../../support/fake-cluster.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

interface Served {
	readonly local: FakeCluster;
	readonly clock: ManualClock;
	readonly answerToPing: () => Promise<void>;
	readonly renewConnections: (graceMs: number) => void;
	readonly closed: Promise<unknown>;
	readonly maxStreams: () => number | undefined;
	readonly sent: () => number;
	readonly call: (authorization: string) => ClientHttp2Stream;
}

/** Admits callers that say "good", and keeps those that say "later" waiting. */
async function serve(): Promise<Served> {
	const local = createFakeCluster();
	const clock = createManualClock();
	const caller = buildTokenCaller();
	const metrics = createMetrics({ version: "0.1.0" });
	const gate: Gate = {
		...createTokenGate({
			identity: { check: async () => ({ kind: "authenticated", caller }) },
			rights: { refusal: async () => undefined },
			local,
			member: async () => local,
			others: async () => [],
		}),
		async admit({ metadata }): Promise<Admission> {
			const [authorization] = metadata.get("authorization");
			if (authorization === "later") return new Promise(() => undefined);
			if (authorization === "good") return { kind: "admitted", caller };
			return { kind: "refused", status: unauthenticatedStatus("Unknown") };
		},
	};
	const server = await startAgentServer({
		address: { hosts: ["127.0.0.1"], port: 0 },
		credentials: ServerCredentials.createInsecure(),
		gate,
		watcher: createCallWatcher({
			metrics,
			log: createLogger("error", { write: () => undefined }),
		}),
		audit: createAuditLog(createLogger("error", { write: () => undefined })),
		openCalls: new OpenCalls("eu-1"),
		held: new HeldLeases({ now: () => 0, cluster: "eu-1" }),
		clock,
		cluster: "eu-1",
		stopping: new AbortController().signal,
	});
	const session = connect(`http://127.0.0.1:${server.port}`, { maxSessionMemory: 1_000 });
	session.on("error", () => undefined);
	await Promise.all([once(session, "connect"), once(session, "remoteSettings")]);
	cleanups.push(
		() => session.destroy(),
		() => server.close(0),
	);
	return {
		local,
		clock,
		answerToPing: () =>
			new Promise((resolve, reject) => {
				session.ping((error) => (error ? reject(error) : resolve()));
			}),
		renewConnections: (graceMs) => server.renewConnections(graceMs),
		closed: once(session, "close"),
		maxStreams: () => session.remoteSettings.maxConcurrentStreams,
		sent: () => session.socket.bytesWritten,
		call(authorization) {
			const stream = session.request({
				[constants.HTTP2_HEADER_METHOD]: "POST",
				[constants.HTTP2_HEADER_PATH]: "/xpdb.v1.AgentService/Describe",
				[constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
				te: "trailers",
				authorization,
			});
			stream.on("error", () => undefined);
			return stream;
		},
	};
}

/** Resolves when the server accepts no more data. An answer to a ping shows that all earlier data has arrived. */
async function untilNothingIsTaken({ answerToPing, sent }: Pick<Served, "answerToPing" | "sent">): Promise<void> {
	for (let last = -1, same = 0; same < 50; last = sent()) {
		await answerToPing();
		same = sent() - last < 100 ? same + 1 : 0;
	}
}

/** Returns the first megabyte of a longer message. */
function halfAMessage(): Buffer {
	const frame = Buffer.alloc(5 + 1_000_000);
	frame.writeUInt32BE(1_500_000, 1);
	return frame;
}

/** Returns the gRPC status, from the headers or the trailers. */
function statusOf(stream: ClientHttp2Stream): Promise<string> {
	return new Promise((resolve) => {
		const note = (headers: Readonly<Record<string, unknown>>): void => {
			const status = headers["grpc-status"];
			if (typeof status === "string") resolve(status);
		};
		stream.on("response", note);
		stream.on("trailers", note);
		stream.resume();
	});
}

test("a connection has a thousand calls at once, at most", async () => {
	const { maxStreams } = await serve();
	expect(maxStreams()).toBe(1_000);
});

test("a connection on which twenty calls are refused is ended", async () => {
	const { call, clock, closed } = await serve();
	for (let calls = 0; calls < 20; calls += 1) expect(await statusOf(call("bad"))).toBe("16");
	clock.advance(100);
	expect(await closed).toEqual([]);
});

test("a connection lives on where somebody was let in over it, and ends after ten seconds where nobody was", async () => {
	const [used, idle] = [await serve(), await serve()];
	const stream = used.call("good");
	stream.end(Buffer.alloc(5));
	expect(await statusOf(stream)).toBe("0");
	for (const { clock } of [used, idle]) clock.advance(10_000);
	await idle.closed;
	await used.answerToPing();
});

test("a connection ends in time after a change of certificates, whatever call is still under way", async () => {
	const { call, clock, closed, renewConnections, answerToPing } = await serve();
	call("later");
	await answerToPing();
	renewConnections(5_000);
	const endedAt = performance.now();
	clock.advance(5_000);
	expect(await closed).toEqual([]);
	// Keepalive would also end it, but 5 s of real time later.
	expect(performance.now() - endedAt).toBeLessThan(4_000);
});

test("a message of more than two megabytes is not taken", async () => {
	const { call, local } = await serve();
	const stream = call("good");
	const given = statusOf(stream);
	const frame = Buffer.alloc(5 + 2 * 1024 * 1024 + 1);
	frame.writeUInt32BE(frame.length - 5, 1);
	stream.end(frame);
	expect(await given).toBe("8");
	expect(local.asked).toEqual([]);
});

describe("the headers of a call", () => {
	test("of calls that are taken back at once end the connection, as those that are refused do", async () => {
		const { call, closed } = await serve();
		for (let index = 0; index < 150; index++) call("later").close(constants.NGHTTP2_CANCEL);
		expect(await closed).toEqual([]);
	});

	test("of calls that are taken back after a while end nothing", async () => {
		const { call, clock, answerToPing } = await serve();
		const calls = Array.from({ length: 150 }, () => call("later"));
		await answerToPing();
		clock.advance(100);
		for (const each of calls) each.close(constants.NGHTTP2_CANCEL);
		await answerToPing();
		clock.advance(1_000);
		expect(await statusOf(call("bad"))).toBe("16");
	});

	test("get a refusal before its message is there", async () => {
		const { call, local } = await serve();
		const stream = call("bad");
		expect(await statusOf(stream)).toBe("16");
		expect(local.asked).toEqual([]);
	});

	test("are judged before anything is read: the rest of a message stays where it is", async () => {
		const { call, answerToPing, sent } = await serve();
		for (let index = 0; index < 20; index++) call("later").write(halfAMessage());
		await untilNothingIsTaken({ answerToPing, sent });
		// Twice 64 KB for each stream, and the overhead of frames.
		expect(sent()).toBeGreaterThan(1_000_000);
		expect(sent()).toBeLessThan(20 * 132_000);
		expect(await statusOf(call("bad"))).toBe("16");
	});

	test("let a message be read, a few at a time, and one that does not come to its end is given up", async () => {
		const { call, clock, local, answerToPing, sent } = await serve();
		const slow = Array.from({ length: 4 }, () => call("good"));
		const given = slow.map(statusOf);
		for (const stream of slow) stream.write(halfAMessage());
		const quick = call("good");
		quick.end(Buffer.alloc(5));
		const answered = statusOf(quick);
		await untilNothingIsTaken({ answerToPing, sent });
		// All four are being read.
		expect(sent()).toBeGreaterThan(4 * 1_000_000);
		expect(local.asked).toEqual([]);
		clock.advance(5_000);
		expect(await Promise.all(given)).toEqual(["14", "14", "14", "14"]);
		expect(await answered).toBe("0");
		expect(local.asked).toEqual([["describe", undefined]]);
	});
});
