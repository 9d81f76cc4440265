// Serves the small API server over TLS: HTTP/2 and HTTP/1.1, JSON, tables, watches and port-forwards.
import {
	createSecureServer,
	type Http2SecureServer,
	type Http2ServerRequest,
	type Http2ServerResponse,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { WebSocketServer } from "ws";
import type { Endpoint } from "../machine/endpoint.ts";
import type { ApiCore } from "./api-core.ts";
import type { ApiObject } from "./api-object.ts";
import type { ApiRequest, User } from "./api-request.ts";
import { authenticate } from "./authentication.ts";
import { discovered } from "./discovery.ts";
import { openApi } from "./openapi.ts";
import { forwardPort } from "./port-forward.ts";
import { list, read } from "./reads.ts";
import { findResource } from "./request-path.ts";
import { badRequest, StatusError, unauthorized } from "./status-error.ts";
import { tableOf } from "./tables.ts";
import { startWatchStream, withTables } from "./watch-stream.ts";

export interface ApiServerOptions {
	readonly core: ApiCore;
	readonly certificate: string;
	readonly key: string;
	/** The CA that issues client certificates. */
	readonly clientAuthority: string;
	readonly host: string;
	/** 0 means any free port. */
	readonly port: number;
	/** Returns the real address of a pod's port. Undefined if nothing listens. */
	readonly dialPod: (pod: ApiObject, port: number) => Endpoint | undefined;
}

export interface ApiServer {
	readonly port: number;
	/** Ends all open requests. */
	close(): Promise<void>;
}

/** Requests have a path only. */
const anyServer = "https://server";
const portForwardProtocol = "v4.channel.k8s.io";

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
	const { core, certificate, key, clientAuthority } = options;
	const server = createSecureServer({
		cert: certificate,
		key,
		ca: clientAuthority,
		allowHTTP1: true,
		requestCert: true,
		// A client with a token has no certificate.
		rejectUnauthorized: false,
	});
	const sockets = new Set<Socket>();
	server.on("connection", (socket: Socket) => {
		sockets.add(socket);
		socket.setNoDelay(true);
		socket.once("close", () => sockets.delete(socket));
	});
	server.on("request", (request, response) => void answer(core, request, response));
	acceptPortForwards(server, options);
	server.on("sessionError", () => undefined);
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(options.port, options.host, resolve);
	});
	return {
		port: (server.address() as AddressInfo).port,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				for (const socket of sockets) socket.destroy();
			}),
	};
}

async function answer(core: ApiCore, incoming: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
	response.on("error", () => undefined);
	try {
		const user = await userOf(core, incoming);
		const url = new URL(incoming.url, anyServer);
		const resource = findResource(incoming.method, url, core.types);
		if (!resource) {
			answerPath(core, url, response);
			return;
		}
		const contentType = (incoming.headers["content-type"] ?? "").replace(/;.*$/, "");
		const request: ApiRequest = { ...resource, user, body: await bodyOf(incoming), contentType };
		const wantsTable = (incoming.headers.accept ?? "").includes("as=Table");
		if (request.verb === "watch") watch(core, request, response, wantsTable);
		else await answerOnce(core, request, response, wantsTable);
	} catch (error) {
		const { status } = error instanceof StatusError ? error : internalError(error);
		const { retryAfterSeconds } = status.details ?? {};
		const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
		if (response.headersSent) response.end();
		else send(response, { code: status.code, body: status }, headers);
	}
}

async function userOf(core: ApiCore, incoming: Http2ServerRequest): Promise<User> {
	const socket = (incoming.httpVersionMajor === 2 ? incoming.stream.session?.socket : incoming.socket) as TLSSocket;
	const user = await authenticate(core.tokens, { socket, authorization: incoming.headers.authorization });
	if (!user) throw unauthorized();
	return user;
}

function answerPath(core: ApiCore, { pathname, host: address }: URL, response: Http2ServerResponse): void {
	if (["/healthz", "/readyz", "/livez"].includes(pathname)) {
		response.writeHead(200, { "content-type": "text/plain" }).end("ok");
		return;
	}
	const body = discovered(pathname, core.types, address) ?? openApi(pathname, core.types);
	if (body === undefined) response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found\n");
	else send(response, { code: 200, body });
}

async function answerOnce(
	core: ApiCore,
	request: ApiRequest,
	response: Http2ServerResponse,
	wantsTable: boolean,
): Promise<void> {
	if (!wantsTable || (request.verb !== "get" && request.verb !== "list")) {
		send(response, await core.handle(request));
		return;
	}
	core.authorize(request);
	if (request.verb === "get") {
		const object = read(core.store, request);
		const { resourceVersion } = object.metadata;
		send(response, { code: 200, body: tableOf(request.type, [object], { resourceVersion }) });
	} else {
		const { objects, metadata } = list(core.store, request);
		send(response, { code: 200, body: tableOf(request.type, objects, metadata) });
	}
}

function watch(core: ApiCore, request: ApiRequest, response: Http2ServerResponse, wantsTable: boolean): void {
	core.authorize(request);
	const lines = {
		write: (event: object) => {
			if (!response.headersSent) response.writeHead(200, { "content-type": "application/json" });
			response.write(`${JSON.stringify(event)}\n`);
		},
		end: () => void response.end(),
	};
	const { type } = request;
	const writer = wantsTable
		? withTables(lines, (object) => tableOf(type, [object], { resourceVersion: object.metadata.resourceVersion }))
		: lines;
	const stop = startWatchStream(core.store, request, writer);
	response.on("close", stop);
	// Headers go out even without events, so that the client knows that the watch is open.
	if (!response.headersSent) {
		response.writeHead(200, { "content-type": "application/json" });
		// Only HTTP/1.1 needs this. HTTP/2 sends headers at once.
		if ("flushHeaders" in response && typeof response.flushHeaders === "function") response.flushHeaders();
	}
}

async function bodyOf(incoming: Http2ServerRequest): Promise<unknown> {
	const chunks: Buffer[] = [];
	for await (const chunk of incoming) chunks.push(chunk as Buffer);
	const text = Buffer.concat(chunks).toString("utf8");
	if (text === "") return undefined;
	try {
		return JSON.parse(text);
	} catch (error) {
		throw badRequest(`the object provided is unrecognized: ${error instanceof Error ? error.message : ""}`);
	}
}

function send(response: Http2ServerResponse, { code, body }: { code: number; body: unknown }, headers = {}): void {
	response.writeHead(code, { "content-type": "application/json", ...headers });
	response.end(JSON.stringify(body));
}

function internalError(error: unknown): StatusError {
	console.error(error);
	const message = `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`;
	return new StatusError({ code: 500, reason: "InternalError", message });
}

function acceptPortForwards(server: Http2SecureServer, { core, dialPod }: ApiServerOptions): void {
	const webSockets = new WebSocketServer({
		noServer: true,
		handleProtocols: (protocols) => (protocols.has(portForwardProtocol) ? portForwardProtocol : false),
	});
	server.on("upgrade", (incoming: Http2ServerRequest, socket: TLSSocket, head: Buffer) => {
		socket.on("error", () => socket.destroy());
		void openPortForward(core, incoming).then(
			({ pod, port }) =>
				webSockets.handleUpgrade(incoming as never, socket, head, (ws) => forwardPort(ws, port, dialPod(pod, port))),
			(error: unknown) => {
				const { status } = error instanceof StatusError ? error : internalError(error);
				const body = JSON.stringify(status);
				socket.end(
					`HTTP/1.1 ${status.code} ${status.reason ?? "Error"}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
				);
			},
		);
	});
}

async function openPortForward(core: ApiCore, incoming: Http2ServerRequest) {
	const user = await userOf(core, incoming);
	const url = new URL(incoming.url, anyServer);
	const resource = findResource("GET", url, core.types);
	if (resource?.type.key !== "pods" || resource.subresource !== "portforward")
		throw badRequest("unable to upgrade connection");
	const request: ApiRequest = { ...resource, user, body: undefined, contentType: "" };
	// A WebSocket begins with a GET but also needs the right to create, as in Kubernetes since 1.35.
	core.authorize(request);
	core.authorize({ ...request, verb: "create" });
	const port = Number(url.searchParams.get("ports"));
	if (incoming.headers["sec-websocket-protocol"] !== portForwardProtocol) {
		throw badRequest(
			`unable to upgrade connection: this small API server forwards ports by ${portForwardProtocol} alone`,
		);
	}
	if (!Number.isInteger(port) || port < 1 || port > 65_535)
		throw badRequest(`invalid port ${JSON.stringify(url.searchParams.get("ports"))}`);
	return { pod: read(core.store, request), port };
}
