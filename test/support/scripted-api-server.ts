import { once } from "node:events";
import {
	createServer as createHttp2Server,
	type IncomingHttpHeaders,
	type ServerHttp2Session,
	type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { ApiAccess } from "../../agent/kubernetes/api-access.ts";

export interface ScriptedRequest {
	readonly method: string;
	/** Without the query. */
	readonly path: string;
	readonly query: URLSearchParams;
	readonly headers: IncomingHttpHeaders;
	readonly body: unknown;
	/** The raw stream, for answers that a real server would not give. */
	readonly stream: ServerHttp2Stream;
	json(status: number, body: unknown): void;
	text(status: number, body: string): void;
	/** Opens a watch: sends the headers at once, then one JSON document per line. */
	open(): ScriptedWatch;
}

export interface ScriptedWatch {
	send(...events: readonly unknown[]): void;
	write(bytes: string | Buffer): void;
	end(): void;
}

export interface ScriptedServer {
	readonly access: ApiAccess;
	readonly requests: readonly ScriptedRequest[];
	readonly sessions: ReadonlySet<ServerHttp2Session>;
	/** Stops all data until thaw() without closing connections, like a frozen machine. */
	freeze(): void;
	thaw(): void;
	breakConnections(): void;
	close(): Promise<void>;
}

/** Starts an HTTP/2 server behind a TCP proxy that can freeze. `handle` answers the requests. */
export async function startScriptedServer(handle: (request: ScriptedRequest) => void): Promise<ScriptedServer> {
	const requests: ScriptedRequest[] = [];
	const sessions = new Set<ServerHttp2Session>();
	const http2 = createHttp2Server();
	http2.on("session", (session) => {
		sessions.add(session);
		session.on("close", () => sessions.delete(session));
		session.on("error", () => undefined);
	});
	http2.on("stream", (stream, headers) => {
		const chunks: Buffer[] = [];
		stream.on("error", () => undefined);
		stream.on("data", (chunk: Buffer) => chunks.push(chunk));
		stream.on("end", () => {
			const request = createRequest(stream, headers, Buffer.concat(chunks).toString("utf8"));
			requests.push(request);
			handle(request);
		});
	});
	http2.listen(0, "127.0.0.1");
	await once(http2, "listening");
	const proxy = await startProxy(portOf(http2));
	return {
		access: { server: `http://127.0.0.1:${proxy.port}`, tls: () => ({}), token: () => "secret" },
		requests,
		sessions,
		freeze: () => proxy.freeze(),
		thaw: () => proxy.thaw(),
		breakConnections: () => proxy.breakConnections(),
		async close() {
			proxy.close();
			for (const session of sessions) session.destroy();
			http2.close();
			await once(http2, "close");
		},
	};
}

function createRequest(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, body: string): ScriptedRequest {
	const url = new URL(headers[":path"] ?? "/", "http://server");
	const answer = (status: number, text: string): void => {
		if (stream.destroyed) return;
		stream.respond({ ":status": status, "content-type": "application/json" });
		stream.end(text);
	};
	return {
		method: headers[":method"] ?? "",
		path: url.pathname,
		query: url.searchParams,
		headers,
		body: body === "" ? undefined : (JSON.parse(body) as unknown),
		stream,
		json: (status, value) => answer(status, JSON.stringify(value)),
		text: answer,
		open() {
			if (!stream.destroyed) stream.respond({ ":status": 200, "content-type": "application/json" });
			const write = (bytes: string | Buffer): void => {
				if (!stream.destroyed) stream.write(bytes);
			};
			return {
				write,
				send: (...events) => {
					for (const event of events) write(`${JSON.stringify(event)}\n`);
				},
				end: () => void stream.end(),
			};
		},
	};
}

async function startProxy(target: number) {
	const pairs = new Set<readonly [Socket, Socket]>();
	let frozen = false;
	const server = createServer((client) => {
		const upstream = connect(target, "127.0.0.1");
		const pair = [client, upstream] as const;
		pairs.add(pair);
		for (const [from, to] of [pair, [upstream, client] as const]) {
			from.on("error", () => undefined);
			from.on("data", (bytes) => void to.write(bytes));
			from.on("close", () => {
				pairs.delete(pair);
				to.destroy();
			});
			if (frozen) from.pause();
		}
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const breakConnections = (): void => {
		for (const sockets of pairs) for (const socket of sockets) socket.destroy();
	};
	return {
		port: portOf(server),
		freeze() {
			frozen = true;
			for (const sockets of pairs) for (const socket of sockets) socket.pause();
		},
		thaw() {
			frozen = false;
			for (const sockets of pairs) for (const socket of sockets) socket.resume();
		},
		breakConnections,
		close() {
			breakConnections();
			server.close();
		},
	};
}

function portOf(server: { address(): AddressInfo | string | null }): number {
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The server does not listen on a port");
	return address.port;
}
