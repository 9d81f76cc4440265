// A target for raw bytes at an agent's real gRPC server: HTTP/2 streams on loopback with garbled frames, lengths and headers.
import { type ClientHttp2Session, connect } from "node:http2";
import { ServerCredentials, status } from "@grpc/grpc-js";
import fc from "fast-check";
import { createLogger } from "../../../agent/process/log.ts";
import { createMetrics } from "../../../agent/process/metrics.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import { createAuditLog } from "../../../agent/server/audit-log.ts";
import { createCallWatcher } from "../../../agent/server/call-watcher.ts";
import { createTokenGate } from "../../../agent/server/gate.ts";
import { HeldLeases } from "../../../agent/server/held-leases.ts";
import { OpenCalls } from "../../../agent/server/open-calls.ts";
import { startAgentServer } from "../../../agent/server/server.ts";
import { buildTokenCaller } from "../../support/build-caller.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import { demandClearText } from "../clear-error.ts";
import { editedBytes, messageEdits } from "../edited-message.ts";
import { asyncTarget, demand, type FuzzTarget } from "../fuzz-target.ts";
import { type Method, methods, requests } from "../seed-messages.ts";

const framing = fc.oneof(
	{ weight: 8, arbitrary: fc.constant("whole" as const) },
	{
		weight: 4,
		arbitrary: fc.constantFrom(
			"compressed",
			"longer",
			"shorter",
			"huge",
			"twice",
			"none",
			"header only",
			"garbage",
			"slow",
		),
	},
);

function framed(message: Buffer, how: string): Buffer[] {
	const frame = (body: Buffer, length = body.length, flag = 0): Buffer => {
		const head = Buffer.alloc(5);
		head.writeUInt8(flag, 0);
		head.writeUInt32BE(Math.max(0, length), 1);
		return Buffer.concat([head, body]);
	};
	switch (how) {
		case "compressed":
			return [frame(message, message.length, 1)];
		case "longer":
			return [frame(message, message.length + 7)];
		case "shorter":
			return [frame(message, message.length - 3)];
		case "huge":
			return [frame(message, 0xffff_ffff)];
		case "twice":
			return [frame(message), frame(message)];
		case "none":
			return [];
		case "header only":
			return [frame(message).subarray(0, 3)];
		case "garbage":
			return [message];
		case "slow":
			return [...frame(message)].map((byte) => Buffer.of(byte));
		default:
			return [frame(message)];
	}
}

const bugCodes: readonly number[] = [status.INTERNAL, status.UNKNOWN];
const unimplemented: number = status.UNIMPLEMENTED;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

interface GrpcAnswer {
	readonly code: number | undefined;
	readonly message: string;
}

function send(
	session: ClientHttp2Session,
	method: Method,
	headers: Readonly<Record<string, string>>,
	chunks: Buffer[],
): Promise<GrpcAnswer> {
	const path = `/xpdb.v1.AgentService/${method.charAt(0).toUpperCase()}${method.slice(1)}`;
	return new Promise((resolve) => {
		const stream = session.request({
			":method": "POST",
			":path": path,
			"content-type": "application/grpc",
			te: "trailers",
			authorization: "Bearer abc",
			...headers,
		});
		let answer: GrpcAnswer = { code: undefined, message: "" };
		const note = (fields: Readonly<Record<string, unknown>>): void => {
			if (fields["grpc-status"] === undefined) return;
			answer = {
				code: Number(fields["grpc-status"]),
				message: decodeURIComponent(text(fields["grpc-message"])),
			};
		};
		stream.on("response", note);
		stream.on("trailers", note);
		stream.on("error", () => undefined);
		stream.on("close", () => resolve(answer));
		stream.resume();
		for (const chunk of chunks) stream.write(chunk);
		stream.end();
	});
}

export const frameTarget: FuzzTarget = {
	name: "grpc-frame",
	reads: "raw gRPC frames, by an agent's server on loopback",
	share: 0.4,
	open: async () => {
		const metrics = createMetrics({ version: "0.2.0" });
		const bugs: string[] = [];
		const log = createLogger("error", { write: (line) => void bugs.push(line) });
		const audit = createAuditLog(createLogger("error", { write: () => undefined }));
		const local = createFakeCluster();
		const gate = createTokenGate({
			identity: { check: async () => ({ kind: "authenticated", caller: buildTokenCaller() }) },
			rights: { refusal: async () => undefined },
			local,
			member: async () => local,
			others: async () => [],
		});
		const watcher = createCallWatcher({ metrics, log });
		const server = await startAgentServer({
			address: { hosts: ["127.0.0.1"], port: 0 },
			credentials: ServerCredentials.createInsecure(),
			gate,
			watcher,
			audit,
			openCalls: new OpenCalls("eu-1"),
			held: new HeldLeases({ now: () => 0, cluster: "eu-1" }),
			clock: systemClock,
			cluster: "eu-1",
			stopping: new AbortController().signal,
		});
		let session: ClientHttp2Session | undefined;
		const current = (): ClientHttp2Session => {
			if (session && !session.closed && !session.destroyed) return session;
			session = connect(`http://127.0.0.1:${server.port}`);
			session.on("error", () => undefined);
			return session;
		};
		const headers = fc.oneof(
			{ weight: 6, arbitrary: fc.constant({}) },
			{
				weight: 2,
				arbitrary: fc.constantFrom<Record<string, string>[]>(
					{ "grpc-timeout": "99999999999H" },
					{ "grpc-timeout": "-1S" },
					{ "grpc-timeout": "1n" },
					{ "grpc-encoding": "gzip" },
					{ "grpc-encoding": "middle-out" },
					{ "content-type": "application/grpc+json" },
					{ "content-type": "text/html" },
					{ "xpdb-passed-on": "line" },
					{ "x-bin": "%%%" },
				),
			},
		);
		const input = fc.record({ method: fc.constantFrom(...methods), edits: messageEdits, how: framing, headers });
		return asyncTarget(
			input,
			async ({ method, edits, how, headers: more }) => {
				const bytes = editedBytes(requests[method], edits);
				if (!bytes) return;
				bugs.length = 0;
				const { code, message } = await send(current(), method, more, framed(bytes, how));
				// Without a status, the stream was broken off or is not gRPC.
				demand(code === undefined || (Number.isInteger(code) && code >= 0 && code <= 16), `Its status is ${code}`);
				demand(bugs.length === 0, `The agent's log has a bug: ${bugs[0]}`);
				if (code === undefined || code === 0) return;
				const foreign =
					/^(Error deserializing request|Failed to decompress|Received|Invalid|Missing|Request|Unhandled|Compressed|cannot|Cannot|Deadline)/.test(
						message,
					);
				demand(!bugCodes.includes(code) || foreign, `It failed by a bug: ${code} ${message}`);
				demandClearText(message);
				const isPlain = how === "whole" && Object.keys(more).length === 0;
				demand(!isPlain || code !== unimplemented, `It does not know ${method}`);
			},
			async () => {
				session?.destroy();
				await server.close(100);
			},
		);
	},
};
