// An HTTPS proxy in front of one API server. The proxy fails, delays or changes chosen calls. Client certificates cannot pass it, so a call
// without a token continues as the operator or the administrator.
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { constants, createSecureServer } from "node:http2";
import { Agent, request } from "node:https";
import type { Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { connect } from "node:tls";
import { type Endpoint, listen } from "../../demo/machine/endpoint.ts";
import type { KnownCluster } from "./admin-client.ts";

/**
 * A status code, "dropped" (the connection closes before the call arrives) or "lost" (the call is executed, but its answer is lost). For a
 * port-forward, "lost" means "dropped".
 */
export type CallFault = 429 | 500 | 503 | 504 | "dropped" | "lost";

export const callFaults: readonly CallFault[] = [429, 500, 503, 504, "dropped", "lost"];

/** `kind` is, for example, "GET pods", "PUT leases", "POST pods/eviction" or "GET pods/portforward". */
export type ApiCall = {
	readonly kind: string;
	readonly path: string;
	readonly isDryRun: boolean;
};

export type ApiProxy = {
	/** For LinkCondition.via. */
	readonly endpoint: Endpoint;
	/** Returns the call's fault, or undefined to let it pass. */
	onCall: (call: ApiCall) => CallFault | undefined;
	/** Called for forwarded calls except port-forwards. Returns a function that changes the text of the answer, or undefined. */
	onAnswer: (call: ApiCall) => ((text: string) => string) | undefined;
	/** Faults and port-forwards are not delayed. */
	delayMs: (call: ApiCall) => number;
	/** Closes all open port-forwards. Returns their number. */
	cutPortForwards(): number;
	close(): Promise<void>;
};

type Request = IncomingMessage | Http2ServerRequest;

export async function startApiProxy(
	cluster: KnownCluster,
	endpoint: Endpoint,
	{ as = "operator" }: { readonly as?: "operator" | "admin" } = {},
): Promise<ApiProxy> {
	const pki = (file: string) => readFileSync(join(cluster.dir, "pki", file));
	const target = new URL(cluster.server);
	const person = { ca: pki("ca.crt"), cert: pki(`${as}.crt`), key: pki(`${as}.key`) };
	const asPerson = new Agent({ ...person, keepAlive: true });
	const asNobody = new Agent({ ca: person.ca, keepAlive: true });
	const sockets = new Set<TLSSocket>();
	const portForwards = new Set<Socket>();
	const server = createSecureServer({ cert: pki("apiserver.crt"), key: pki("apiserver.key"), allowHTTP1: true });

	function forward(incoming: Request, outgoing: Http2ServerResponse, fault: CallFault | undefined): void {
		const change = proxy.onAnswer(callOf(incoming));
		const { "accept-encoding": encoding, ...headers } = endToEnd(incoming.headers);
		const upstream = request(
			new URL(incoming.url ?? "/", target),
			{
				method: incoming.method ?? "GET",
				headers: change || encoding === undefined ? headers : { ...headers, "accept-encoding": encoding },
				agent: incoming.headers.authorization === undefined ? asPerson : asNobody,
			},
			(answer) => {
				if (fault === "lost") {
					answer.resume();
					answer.once("end", () => drop(incoming));
					return;
				}
				answer.on("error", () => drop(incoming));
				if (change) {
					const { "content-length": _length, ...headers } = endToEnd(answer.headers);
					outgoing.writeHead(answer.statusCode ?? 502, headers);
					text(answer).then(
						(whole) => outgoing.end(change(whole)),
						() => drop(incoming),
					);
					return;
				}
				outgoing.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
				answer.pipe(outgoing);
			},
		);
		upstream.on("error", () => drop(incoming));
		outgoing.on("close", () => upstream.destroy());
		incoming.pipe(upstream);
	}

	server.on("secureConnection", (socket) => {
		sockets.add(socket);
		socket.on("error", () => undefined);
		socket.once("close", () => sockets.delete(socket));
	});
	server.on("sessionError", () => undefined);
	server.on("request", (incoming, outgoing) => {
		const call = callOf(incoming);
		const fault = proxy.onCall(call);
		const delayMs = proxy.delayMs(call);
		incoming.on("error", () => undefined);
		outgoing.on("error", () => undefined);
		if (fault === "dropped") drop(incoming);
		else if (fault === undefined && delayMs > 0) setTimeout(() => forward(incoming, outgoing, fault), delayMs);
		else if (fault === undefined || fault === "lost") forward(incoming, outgoing, fault);
		else answerStatus(outgoing, fault);
	});
	server.on("upgrade", (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
		const fault = proxy.onCall(callOf(incoming));
		socket.on("error", () => undefined);
		if (fault === "dropped" || fault === "lost") socket.destroy();
		else if (fault !== undefined)
			socket.end(`HTTP/1.1 ${fault} Fault\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
		else passOn(incoming, socket, head);
	});

	function passOn(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
		const upstream = connect({ ...person, host: target.hostname, port: Number(target.port) }, () => {
			const headers = incoming.rawHeaders.flatMap((text, index) => (index % 2 === 0 ? [`${text}: `] : [`${text}\r\n`]));
			upstream.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${headers.join("")}\r\n`);
			upstream.write(head);
			socket.pipe(upstream);
			upstream.pipe(socket);
		});
		portForwards.add(socket);
		upstream.on("error", () => socket.destroy());
		upstream.on("close", () => socket.destroy());
		socket.on("close", () => {
			portForwards.delete(socket);
			upstream.destroy();
		});
	}

	const proxy: ApiProxy = {
		endpoint,
		onCall: () => undefined,
		onAnswer: () => undefined,
		delayMs: () => 0,
		cutPortForwards() {
			const open = portForwards.size;
			for (const socket of portForwards) socket.destroy();
			return open;
		},
		close() {
			for (const socket of sockets) socket.destroy();
			asPerson.destroy();
			asNobody.destroy();
			return new Promise((resolve) => {
				server.close(() => resolve());
			});
		},
	};
	await listen(server, endpoint);
	return proxy;
}

function drop(incoming: Request): void {
	if ("stream" in incoming) incoming.stream.session?.destroy(undefined, constants.NGHTTP2_INTERNAL_ERROR);
	incoming.socket.destroy();
}

function answerStatus(outgoing: Http2ServerResponse, code: Exclude<CallFault, string>): void {
	const reasons = { 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout" };
	const status = {
		kind: "Status",
		apiVersion: "v1",
		status: "Failure",
		message: `a fault for the test: ${code}`,
		reason: reasons[code],
		code,
	};
	// API Priority and Fairness sends this header, too.
	outgoing.writeHead(code, { "content-type": "application/json", ...(code === 429 && { "retry-after": "1" }) });
	outgoing.end(JSON.stringify(status));
}

const hopByHop = new Set([
	"connection",
	"keep-alive",
	"proxy-connection",
	"transfer-encoding",
	"upgrade",
	"host",
	"te",
]);

function endToEnd(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
	return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(":") && !hopByHop.has(name)));
}

/** Names the call as an audit log does: /api/v1/namespaces/NS/pods/NAME/eviction becomes pods/eviction. */
function callOf({ method = "GET", url = "/" }: Request): ApiCall {
	const { pathname, searchParams } = new URL(url, "https://any");
	const [, , resource = pathname, name, subresource] =
		/^\/(api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/(?=[^/]+))?([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(
			pathname,
		) ?? [];
	const verb =
		searchParams.get("watch") === null ? (method === "GET" && name === undefined ? "LIST" : method) : "WATCH";
	return {
		kind: `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`,
		path: pathname,
		isDryRun: searchParams.has("dryRun"),
	};
}
