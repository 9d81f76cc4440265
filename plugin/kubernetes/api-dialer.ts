// The one place where the plugin dials an API server: for calls, for answers that come line by line and for WebSockets, with the same
// credentials (api-credentials.ts), TLS, proxy, kept connections and limits of time. client-node has no such place: its calls and
// watches go through undici with a new agent, so a new connection, each time, and its port-forward through ws with another.
import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as requestPlain } from "node:http";
import { request } from "node:https";
import type { WebSocket } from "ws";
import { formatDuration, timerMs } from "../flags/duration.ts";
import type { VerboseLog } from "../terminal/verbose-log.ts";
import { createCredentialReader } from "./api-credentials.ts";
import { NotSentError } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import type { LoginDesk } from "./login-desk.ts";
import { explainProxyError } from "./proxy-error.ts";
import { type FollowedRequest, followRequest } from "./request-log.ts";

export interface ApiRequest {
	readonly method: string;
	/** With its query. */
	readonly path: string;
	readonly headers: OutgoingHttpHeaders;
	readonly body?: string | undefined;
	/** Ends the request, and its answer for as long as that comes. */
	readonly signal?: AbortSignal | undefined;
	/** As CallOptions has it. */
	readonly guard?: (() => boolean) | undefined;
}

export interface ApiAnswer {
	readonly code: number;
	readonly headers: IncomingMessage["headers"];
	readonly body: string;
}

/** Whatever it rejects with is why there is no answer. */
export interface ApiDialer {
	exchange(request: ApiRequest): Promise<ApiAnswer>;
	/** The answer as it begins, whatever its code, if it begins within so many ms. It must be read or destroyed. */
	open(request: ApiRequest, withinMs: number): Promise<IncomingMessage>;
	/** One that is still connecting. */
	webSocket(path: string, protocol: string): Promise<WebSocket>;
	/** Reads the credentials anew next time; false where nothing could change. */
	forget(): boolean;
	close(): void;
}

/** The server closed a connection that was used again, before this request could be answered. */
export class ResetError extends Error {
	override readonly name = "ResetError";
	constructor(cause: Error) {
		super(cause.message, { cause });
	}
}

/** The API server ends a request after 60 s; who hears nothing for longer talks to nobody. */
const defaultTimeoutMs = 65_000;
const handshakeTimeoutMs = 10_000;

/** Must be closed. `log`: what is told of every request, where somebody wants to know. `logins`: those of the other contexts too. */
export function createApiDialer(connection: Connection, log?: VerboseLog, logins?: LoginDesk): ApiDialer {
	const reader = createCredentialReader(connection, logins);
	const base = connection.server.replace(/\/$/, "");

	interface Begun {
		readonly response: IncomingMessage;
		readonly followed: FollowedRequest | undefined;
		/** From now on it may take as long as it likes. */
		readonly leaveTime: () => void;
		/** What has ended the answer. */
		readonly explain: (error: unknown) => unknown;
	}

	/**
	 * The time begins once we are logged in, because a person may have to do that. With a guard, nothing is written before
	 * there is a connection, and then only if the guard returns true.
	 */
	async function begin({ method, path, headers, body, signal, guard }: ApiRequest, withinMs: number): Promise<Begun> {
		const { tls, headers: login, agent } = await reader.current();
		signal?.throwIfAborted();
		const url = new URL(base + path);
		const make = url.protocol === "http:" ? requestPlain : request;
		return new Promise((resolve, reject) => {
			let isLate = false;
			const explain = (error: unknown): unknown => {
				if (isLate) return new Error(`no answer within ${formatDuration(withinMs)}`);
				const isReset = error instanceof Error && "code" in error && error.code === "ECONNRESET";
				if (isReset && outgoing.reusedSocket) return new ResetError(error);
				return explainProxyError(error, connection.httpProxy ?? connection.cluster.proxyUrl ?? "");
			};
			const outgoing = make(url, { ...tls, agent, method, headers: { ...login, ...headers } }, (response) => {
				// Whoever reads it hears of its errors, but may not listen yet.
				response.on("error", () => undefined);
				resolve({ response, followed, leaveTime: () => clearTimeout(timer), explain });
			});
			const followed = log && followRequest(log, outgoing, url, body ?? "");
			// Not by the request's own signal: its AbortError comes up where nobody listens when the request is over already.
			const stop = (): void => void outgoing.destroy();
			const timer = setTimeout(() => {
				isLate = true;
				stop();
			}, timerMs(withinMs));
			signal?.addEventListener("abort", stop, { once: true });
			outgoing.on("error", (error) => reject(explain(error)));
			outgoing.once("close", () => {
				clearTimeout(timer);
				signal?.removeEventListener("abort", stop);
			});
			if (!guard) {
				outgoing.end(body);
				return;
			}
			onceConnected(outgoing, () => {
				if (guard()) outgoing.end(body);
				else outgoing.destroy(new NotSentError(!outgoing.reusedSocket));
			});
		});
	}

	/** Opens a connection, so that a request that waited too long for a new one finds it on the next try. */
	async function connectAhead(signal: AbortSignal | undefined): Promise<void> {
		const { response } = await begin({ method: "GET", path: "/version", headers: {}, signal }, handshakeTimeoutMs);
		await readText(response);
	}

	return {
		async exchange(asked) {
			const begun = begin(asked, connection.requestTimeoutMs || defaultTimeoutMs);
			const { response, followed, explain } = await begun.catch(async (error: unknown) => {
				// A failure shows when the request is tried again.
				if (error instanceof NotSentError && error.hadToConnect)
					await connectAhead(asked.signal).catch(() => undefined);
				throw error;
			});
			try {
				const body = await readText(response);
				followed?.answered(body);
				return { code: response.statusCode ?? 0, headers: response.headers, body };
			} catch (error) {
				throw explain(error);
			}
		},
		async open(asked, withinMs) {
			const { response, leaveTime } = await begin(asked, withinMs);
			leaveTime();
			return response;
		},
		async webSocket(path, protocol) {
			const { WebSocket } = await import("ws");
			const { tls, headers, agent } = await reader.current();
			const url = new URL(base + path);
			return new WebSocket(base.replace(/^http/, "ws") + path, [protocol], {
				...tls,
				agent,
				headers: Object.fromEntries(
					Object.entries(headers).map(([name, value]) => [
						name,
						Array.isArray(value) ? value.join(",") : String(value),
					]),
				),
				handshakeTimeout: handshakeTimeoutMs,
				perMessageDeflate: false,
				followRedirects: false,
				finishRequest(request) {
					if (log) followRequest(log, request, url);
					request.end();
				},
			});
		},
		forget: () => reader.forget(),
		close: () => reader.close(),
	};
}

/** Calls `go` synchronously when the request can be written. */
function onceConnected(outgoing: ClientRequest, go: () => void): void {
	outgoing.once("socket", (socket) => {
		const isSecuring = "secureConnecting" in socket && socket.secureConnecting === true;
		if (!isSecuring && !socket.connecting) go();
		else socket.once("encrypted" in socket ? "secureConnect" : "connect", go);
	});
}

async function readText(response: IncomingMessage): Promise<string> {
	response.setEncoding("utf8");
	let text = "";
	for await (const chunk of response) text += String(chunk);
	return text;
}
