// Opens all connections of the plugin to an API server: calls, streams and WebSockets. They share credentials, TLS settings, proxy and kept
// connections, and each has a timeout. client-node would open a new connection for each call.
import {
	type ClientRequest,
	type IncomingMessage,
	type OutgoingHttpHeaders,
	type Agent as PlainAgent,
	request as requestPlain,
} from "node:http";
import { request } from "node:https";
import type { WebSocket } from "ws";
import { formatDuration, timerMs } from "../flags/duration.ts";
import type { VerboseLog } from "../terminal/verbose-log.ts";
import { afterOwnTime } from "./after-own-time.ts";
import { createCredentialReader } from "./api-credentials.ts";
import { NotSentError, SilentServerError } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import type { LoginDesk } from "./login-desk.ts";
import { explainProxyError } from "./proxy-error.ts";
import { type FollowedRequest, followRequest } from "./request-log.ts";

export interface ApiRequest {
	readonly method: string;
	readonly path: string;
	readonly headers: OutgoingHttpHeaders;
	readonly body?: string | undefined;
	readonly signal?: AbortSignal | undefined;
	/** As in CallOptions. */
	readonly guard?: (() => boolean) | undefined;
}

export interface ApiAnswer {
	readonly code: number;
	readonly headers: IncomingMessage["headers"];
	readonly body: string;
}

export interface ApiDialer {
	exchange(request: ApiRequest): Promise<ApiAnswer>;
	/** Resolves when an answer begins, with any code. Rejects after `withinMs`. The caller must read or destroy the answer. */
	open(request: ApiRequest, withinMs: number): Promise<IncomingMessage>;
	webSocket(path: string, protocol: string): Promise<WebSocket>;
	/** Makes the next request read the credentials again. Returns false if they cannot change. */
	forget(): boolean;
	close(): void;
}

/** A reused connection was closed before the answer to this request was complete. */
export class ResetError extends Error {
	override readonly name = "ResetError";
	constructor(cause: Error) {
		super(cause.message, { cause });
	}
}

/** The API server ends a request after 60 s, so after this time the connection must be dead. */
const defaultTimeoutMs = 65_000;
/** kubectl's limit for the TLS handshake. A hung API server still accepts TCP connections but completes no handshake. */
const connectTimeoutMs = 10_000;
/** After this time, the user is told what the command waits for. */
const silentAfterMs = 3_000;

export interface DialerOptions {
	readonly log?: VerboseLog | undefined;
	readonly logins?: LoginDesk | undefined;
	/** Called when a request has waited `silentForMs`, and again only after the server has answered in between. */
	readonly onSilence?: ((silentForMs: number) => void) | undefined;
	readonly connectTimeoutMs?: number;
	readonly silentAfterMs?: number;
}

/** The dialer must be closed. */
export function createApiDialer(connection: Connection, options: DialerOptions = {}): ApiDialer {
	const { log, logins, onSilence } = options;
	const limits = { connectTimeoutMs, silentAfterMs, ...options };
	const reader = createCredentialReader(connection, logins);
	const base = connection.server.replace(/\/$/, "");
	let isSilent = false;

	interface Begun {
		readonly response: IncomingMessage;
		readonly followed: FollowedRequest | undefined;
		readonly leaveTime: () => void;
		/** Replaces an error with the reason for it, such as a timeout. */
		readonly explain: (error: unknown) => unknown;
	}

	/**
	 * Resolves when the answer begins. The timeout starts after the login, which may wait for the user. A guarded request is written only
	 * after connecting, and only if the guard returns true.
	 */
	async function begin({ method, path, headers, body, signal, guard }: ApiRequest, withinMs: number): Promise<Begun> {
		const { tls, headers: login, agent } = await reader.current();
		signal?.throwIfAborted();
		const url = new URL(base + path);
		const make = url.protocol === "http:" ? requestPlain : request;
		return new Promise((resolve, reject) => {
			let late: SilentServerError | undefined;
			const explain = (error: unknown): unknown => {
				if (late) return late;
				const isReset = error instanceof Error && "code" in error && error.code === "ECONNRESET";
				if (isReset && outgoing.reusedSocket) return new ResetError(error);
				return explainProxyError(error, connection.httpProxy ?? connection.cluster.proxyUrl ?? "");
			};
			const outgoing = make(url, { ...tls, agent, method, headers: { ...login, ...headers } }, (response) => {
				isSilent = false;
				clearTimeout(silence);
				// The caller may not listen for errors yet, and an unhandled error event would end the process.
				response.on("error", () => undefined);
				resolve({ response, followed, leaveTime: () => clearTimeout(timer), explain });
			});
			const followed = log && followRequest(log, outgoing, url, body ?? "");
			// Node's `signal` option is not used: for a request that is already over, its AbortError would be unhandled.
			const stop = (): void => {
				// A request that waits for a proxy has no socket yet and ends without an event.
				finish();
				outgoing.destroy();
				reject(explain(new Error("the request was given up")));
			};
			const giveUp = (problem: string): void => {
				late = new SilentServerError(problem);
				stop();
			};
			const timer = setTimeout(() => giveUp(`no answer within ${formatDuration(withinMs)}`), timerMs(withinMs));
			const silence = setTimeout(() => {
				if (!isSilent) onSilence?.(limits.silentAfterMs);
				isSilent = true;
			}, limits.silentAfterMs);
			const giveUpUnconnected = (): void => {
				// If all connections are in use, the request waits for other answers, not for a connection.
				if (outgoing.socket === null && isBusy(agent)) stopConnecting = waitToConnect();
				else giveUp(`no connection within ${formatDuration(limits.connectTimeoutMs)}`);
			};
			const waitToConnect = (): (() => void) => afterOwnTime(limits.connectTimeoutMs, giveUpUnconnected);
			let stopConnecting = waitToConnect();
			const finish = (): void => {
				clearTimeout(timer);
				clearTimeout(silence);
				stopConnecting();
				signal?.removeEventListener("abort", stop);
			};
			signal?.addEventListener("abort", stop, { once: true });
			outgoing.on("error", (error) => reject(explain(error)));
			outgoing.once("close", finish);
			onceConnected(outgoing, () => stopConnecting());
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

	/** Opens a connection for a retry, because the request just waited too long for one. */
	async function connectAhead(signal: AbortSignal | undefined): Promise<void> {
		const { response } = await begin({ method: "GET", path: "/version", headers: {}, signal }, connectTimeoutMs);
		await readText(response);
	}

	return {
		async exchange(asked) {
			const begun = begin(asked, connection.requestTimeoutMs || defaultTimeoutMs);
			const { response, followed, explain } = await begun.catch(async (error: unknown) => {
				// The retry will report why it cannot connect.
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
				handshakeTimeout: connectTimeoutMs,
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

function isBusy({ sockets, maxSockets }: PlainAgent): boolean {
	return Object.values(sockets).reduce((sum, each) => sum + (each?.length ?? 0), 0) >= maxSockets;
}

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
