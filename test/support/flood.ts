// Floods a port of an agent: with a hundred thousand requests on one connection, or with ten thousand connections. A worker thread sends
// them, so that the test can observe the agent.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** `requests` and `resets` use one connection. `connections` opens many and sends the start of a message on each. */
export type FloodKind = "requests" | "resets" | "connections";

export interface FloodOptions {
	readonly kind: FloodKind;
	/** Plain HTTP, or gRPC over TLS. */
	readonly protocol: "http" | "grpc";
	readonly host: string;
	readonly port: number;
	readonly count: number;
	/** The first two bytes of the loopback addresses that `connections` come from, for example 127.66. */
	readonly from: string;
}

/** The floods that an agent must withstand. Ports are those of its pod. */
export const strangerFloods: readonly (Pick<FloodOptions, "kind" | "protocol" | "count"> & {
	readonly port: 8080 | 8443 | 8444;
})[] = [
	{ port: 8080, protocol: "http", kind: "requests", count: 100_000 },
	{ port: 8080, protocol: "http", kind: "connections", count: 10_000 },
	{ port: 8443, protocol: "grpc", kind: "requests", count: 100_000 },
	{ port: 8443, protocol: "grpc", kind: "resets", count: 100_000 },
	{ port: 8443, protocol: "grpc", kind: "connections", count: 10_000 },
	{ port: 8444, protocol: "grpc", kind: "requests", count: 100_000 },
	{ port: 8444, protocol: "grpc", kind: "connections", count: 10_000 },
];

/** Resolves when everything was sent or the agent closed the connection. */
export async function sendFlood(options: FloodOptions): Promise<void> {
	const worker = new Worker(new URL(import.meta.url), { workerData: options });
	const [result] = (await Promise.race([
		once(worker, "message"),
		once(worker, "error").then(([error]) => Promise.reject(error as Error)),
	])) as [string];
	await worker.terminate();
	if (result !== "over") throw new Error(`The flood ended with ${result}`);
}

/** The most connections open at once. More would exhaust the client's file descriptors. */
const openAtOnce = 4_000;

async function sendConnections({ protocol, host, port, count, from }: FloodOptions): Promise<void> {
	const opening = protocol === "http" ? Buffer.from("GET /metrics HTTP/1.1\r\nhost: x\r\n") : await clientHello();
	const open = new Set<Socket>();
	for (let index = 0; index < count; index++) {
		const socket = connect({ host, port, localAddress: `${from}.${(index >> 7) & 127}.${1 + (index & 127)}` });
		open.add(socket);
		socket.on("error", () => undefined);
		socket.on("close", () => open.delete(socket));
		socket.on("connect", () => socket.write(opening));
		socket.resume();
		if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
		while (open.size >= openAtOnce) await delay(1);
	}
	await delay(500);
	for (const socket of open) socket.destroy();
}

/** Returns a TLS ClientHello. It makes the server compute a handshake at no cost to the client. */
async function clientHello(): Promise<Buffer> {
	const server = createServer();
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	const port = typeof address === "object" && address !== null ? address.port : 0;
	const client = connectTls({ host: "127.0.0.1", port, ALPNProtocols: ["h2"], minVersion: "TLSv1.3" });
	client.on("error", () => undefined);
	const [socket] = (await once(server, "connection")) as [Socket];
	const [hello] = (await once(socket, "data")) as [Buffer];
	client.destroy();
	socket.destroy();
	server.close();
	return hello;
}

async function sendRequests(options: FloodOptions): Promise<void> {
	const { protocol, host, port, count } = options;
	const socket =
		protocol === "http"
			? connect({ host, port })
			: connectTls({ host, port, ALPNProtocols: ["h2"], rejectUnauthorized: false });
	const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
	socket.on("error", () => undefined);
	socket.resume();
	await Promise.race([once(socket, protocol === "http" ? "connect" : "secureConnect"), closed]);
	const chunks = protocol === "http" ? pipelined(count) : streams(count, options.kind === "resets");
	for (const chunk of chunks) {
		if (socket.destroyed) return;
		if (!socket.write(chunk)) await Promise.race([once(socket, "drain").catch(() => undefined), closed]);
	}
	await Promise.race([closed, delay(3_000)]);
	socket.destroy();
}

function* pipelined(count: number): Generator<Buffer> {
	const some = 1_000;
	const chunk = Buffer.from("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n".repeat(some));
	for (let sent = 0; sent < count; sent += some) yield chunk;
}

/** Yields calls of Describe with invented tokens. They ignore the server's limit of concurrent calls. */
function* streams(count: number, reset: boolean): Generator<Buffer> {
	yield Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, Buffer.alloc(0))]);
	const cancel = Buffer.from([0, 0, 0, 8]);
	let chunk: Buffer[] = [];
	for (let index = 0; index < count; index++) {
		const id = 2 * index + 1;
		// Flag 4 is END_HEADERS. The empty message carries END_STREAM.
		chunk.push(frame(1, 4, id, headers(index)), reset ? frame(3, 0, id, cancel) : frame(0, 1, id, Buffer.alloc(5)));
		if (chunk.length < 500) continue;
		yield Buffer.concat(chunk);
		chunk = [];
	}
	yield Buffer.concat(chunk);
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
	const head = Buffer.alloc(9);
	head.writeUIntBE(payload.length, 0, 3);
	head.writeUInt8(type, 3);
	head.writeUInt8(flags, 4);
	head.writeUInt32BE(stream, 5);
	return Buffer.concat([head, payload]);
}

/** Encodes a call's headers in HPACK: POST and https by their static index, everything else as text. */
function headers(index: number): Buffer {
	const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
	const token = `${encode({ alg: "RS256" })}.${encode({ aud: ["xpdb-agent"], sub: `${index}` })}.${encode({ s: 1 })}`;
	const text = (value: string): Buffer => {
		const bytes = Buffer.from(value);
		return bytes.length < 127
			? Buffer.concat([Buffer.of(bytes.length), bytes])
			: Buffer.concat([Buffer.of(127, (bytes.length - 127) | 128, (bytes.length - 127) >> 7), bytes]);
	};
	const field = (name: string, value: string): Buffer => Buffer.concat([Buffer.of(0), text(name), text(value)]);
	return Buffer.concat([
		Buffer.of(0x83, 0x87),
		field(":path", "/xpdb.v1.AgentService/Describe"),
		field(":authority", "xpdb-agent.xpdb-system.svc"),
		field("content-type", "application/grpc"),
		field("te", "trailers"),
		field("authorization", `Bearer ${token}`),
	]);
}

if (!isMainThread) {
	const options = workerData as FloodOptions;
	await (options.kind === "connections" ? sendConnections(options) : sendRequests(options));
	parentPort?.postMessage("over");
}
