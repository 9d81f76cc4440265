import { connect } from "node:http2";
import {
	Metadata,
	Server,
	ServerCredentials,
	type ServerUnaryCall,
	type ServerWritableStream,
	type sendUnaryData,
	status,
} from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { createGatheredAnswers, headersWithinMs } from "../../../agent/server/gathered-answers.ts";
import { createManualClock } from "../../support/manual-clock.ts";

type Text = { readonly text: string };
type UnaryHandler = (call: ServerUnaryCall<Text, Text>, callback: sendUnaryData<Text>) => void;
type StreamHandler = (call: ServerWritableStream<Text, Text>) => void;

const bytes = {
	serialize: ({ text }: Text) => {
		if (text === "unwritable") throw new TypeError("it cannot be written");
		return Buffer.from(text);
	},
	deserialize: (buffer: Buffer) => ({ text: buffer.toString() }),
};

/** Starts a server with these two methods. An HTTP/2 client records each piece of an answer as it arrives. */
async function serve({
	unary = () => undefined,
	stream = () => undefined,
}: {
	unary?: UnaryHandler;
	stream?: StreamHandler;
}) {
	const clock = createManualClock();
	const server = new Server({ interceptors: [createGatheredAnswers(clock)] });
	const method = (path: string, responseStream: boolean) => ({
		path,
		requestStream: false,
		responseStream,
		requestSerialize: bytes.serialize,
		requestDeserialize: bytes.deserialize,
		responseSerialize: bytes.serialize,
		responseDeserialize: bytes.deserialize,
	});
	server.addService({ unary: method("/test/Unary", false), stream: method("/test/Stream", true) }, { unary, stream });
	const port = await new Promise<number>((resolve, reject) => {
		server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
			error ? reject(error) : resolve(bound),
		);
	});
	const session = connect(`http://127.0.0.1:${port}`);
	onTestFinished(() => {
		session.destroy();
		server.forceShutdown();
	});
	const call = (path: string) => {
		const pieces: string[] = [];
		const { promise: headers, resolve: heard } = Promise.withResolvers<void>();
		const { promise: ended, resolve: end } = Promise.withResolvers<void>();
		const request = session.request({
			":method": "POST",
			":path": path,
			"content-type": "application/grpc",
			te: "trailers",
		});
		request.on("response", () => {
			pieces.push("headers");
			heard();
		});
		request.on("data", (chunk: Buffer) => pieces.push(`data ${chunk.subarray(5).toString()}`));
		request.on("trailers", (found) => pieces.push(`status ${found["grpc-status"]}`));
		request.on("close", end);
		request.end(Buffer.from([0, 0, 0, 0, 0]));
		return { pieces, headers, ended };
	};
	return { clock, call };
}

describe("gathered answers", () => {
	test("hold early headers back until a quarter of a second has passed", async () => {
		const { promise: begun, resolve: begin } = Promise.withResolvers<sendUnaryData<Text>>();
		const { clock, call } = await serve({
			unary(started, callback) {
				started.sendMetadata(new Metadata());
				begin(callback);
			},
		});
		const { pieces, headers, ended } = call("/test/Unary");
		const answer = await begun;
		clock.advance(headersWithinMs - 1);
		expect(pieces).toEqual([]);
		clock.advance(1);
		await headers;
		expect(pieces).toEqual(["headers"]);
		answer(null, { text: "late" });
		await ended;
		expect(pieces).toEqual(["headers", "data late", "status 0"]);
	});

	test("send headers, message and status of an answer that is there at once", async () => {
		const { clock, call } = await serve({
			unary(started, callback) {
				started.sendMetadata(new Metadata());
				callback(null, { text: "soon" });
			},
		});
		const { pieces, ended } = call("/test/Unary");
		await ended;
		expect(pieces).toEqual(["headers", "data soon", "status 0"]);
		clock.advance(headersWithinMs);
	});

	test("send an error with the headers that were held back", async () => {
		const { call } = await serve({
			unary(started, callback) {
				started.sendMetadata(new Metadata());
				callback({ code: status.UNAVAILABLE, details: "no" });
			},
		});
		const { pieces, ended } = call("/test/Unary");
		await ended;
		expect(pieces).toEqual(["headers", `status ${status.UNAVAILABLE}`]);
	});

	test("say so where an answer cannot be written", async () => {
		const { call } = await serve({ unary: (_, callback) => callback(null, { text: "unwritable" }) });
		const { pieces, ended } = call("/test/Unary");
		await ended;
		expect(pieces).toEqual(["headers", `status ${status.INTERNAL}`]);
	});

	test("tell a stream of each message when it was written, and keep their order", async () => {
		const written: string[] = [];
		const { call } = await serve({
			stream(started) {
				started.sendMetadata(new Metadata());
				started.write({ text: "first" }, () => {
					written.push("first");
					started.write({ text: "second" });
					started.end();
				});
			},
		});
		const { pieces, ended } = call("/test/Stream");
		await ended;
		expect(written).toEqual(["first"]);
		expect(pieces).toEqual(["headers", "data first", "data second", "status 0"]);
	});
});
