// A thin client of one API server: node:https with keep-alive, credentials as the kubeconfig has them (api-credentials.ts).
// It turns every answer that is not 2xx into ApiError and every missing answer into ConnectionError.
import {
	type IncomingMessage,
	type OutgoingHttpHeaders,
	type RequestOptions,
	request as requestPlain,
} from "node:http";
import { request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { timerMs } from "../flags/duration.ts";
import { createCredentialReader, type DialOptions } from "./api-credentials.ts";
import { ConnectionError, listError, readApiError } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import { parseWarnings } from "./server-warning.ts";

export interface CallOptions {
	readonly signal?: AbortSignal;
	/** False: a 429 or 5xx comes back at once, whatever Retry-After says. */
	readonly retry?: boolean;
}

export interface ListQuery {
	readonly fieldSelector?: string;
	readonly labelSelector?: string;
	/** Objects per page; 0: all at once. */
	readonly chunkSize?: number;
}

export interface KubernetesClient {
	readonly server: string;
	get<T>(path: string, options?: CallOptions): Promise<T>;
	list<T>(path: string, query?: ListQuery, options?: CallOptions): Promise<readonly T[]>;
	post<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	/** A strategic merge patch. `query` begins with "?" where there is one. */
	patch<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	delete<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	/** Address, TLS options and headers for a connection of another kind (WebSocket). */
	dialOptions(): Promise<DialOptions>;
	close(): void;
}

/** kubectl's own page size. */
export const defaultChunkSize = 500;
/** As client-go (rest/with_retry.go): an answer with Retry-After is asked for again this many times. */
const maxRetries = 10;
/** The API server ends a request after 60 s; who hears nothing for longer talks to nobody. */
const defaultTimeoutMs = 65_000;

/** A client for the connection; must be closed. `onWarning`: what the server says beside its answers. */
export function createKubernetesClient(
	connection: Connection,
	onWarning: (message: string) => void = () => undefined,
): KubernetesClient {
	const reader = createCredentialReader(connection);
	const base = connection.server.replace(/\/$/, "");

	async function call<T>(
		method: string,
		path: string,
		body: unknown,
		contentType: string,
		options: CallOptions,
	): Promise<T> {
		for (let attempt = 0; ; attempt += 1) {
			const answer = await send(method, path, body, contentType, options);
			if (answer.code >= 200 && answer.code < 300) {
				let content: T | undefined;
				try {
					content = JSON.parse(answer.body);
				} catch (error) {
					if (!(error instanceof SyntaxError)) throw error;
				}
				// Beyond that the API server is believed: what it sends is what the path says.
				if (typeof content === "object" && content !== null && !Array.isArray(content)) return content;
				// The page of a proxy, or half of an answer.
				throw new ConnectionError(
					connection.server,
					new Error(`the answer to ${method} ${path} is no object of the API`),
				);
			}
			const error = readApiError(answer.code, answer.body, answer.retryAfter);
			if (error.code === 401 && attempt === 0 && reader.forget()) continue;
			const mayHelp = error.code === 429 || error.code >= 500;
			if (options.retry === false || !mayHelp || error.retryAfterSeconds === undefined || attempt >= maxRetries)
				throw error;
			await delay(error.retryAfterSeconds * 1_000, undefined, options.signal ? { signal: options.signal } : {});
		}
	}

	async function send(
		method: string,
		path: string,
		body: unknown,
		contentType: string,
		options: CallOptions,
	): Promise<{ readonly code: number; readonly body: string; readonly retryAfter: string | undefined }> {
		const credentials = await reader.current();
		const text = body === undefined ? undefined : JSON.stringify(body);
		const headers: OutgoingHttpHeaders = {
			...credentials.headers,
			accept: "application/json",
			...(text !== undefined && { "content-type": contentType, "content-length": Buffer.byteLength(text) }),
		};
		// An idle connection may be closed by the server just as it is used again. A read is then asked once more; for a
		// write nobody knows what happened, and the caller decides.
		for (let attempt = 0; ; attempt += 1) {
			try {
				return await exchange(
					new URL(base + path),
					{ ...credentials.tls, agent: credentials.agent, method, headers },
					text,
					options,
				);
			} catch (error) {
				if (options.signal?.aborted) throw options.signal.reason;
				const reset = error instanceof ResetError;
				if (reset && method === "GET" && attempt === 0) continue;
				throw new ConnectionError(connection.server, reset ? error.cause : error);
			}
		}
	}

	function exchange(
		url: URL,
		requestOptions: RequestOptions,
		text: string | undefined,
		options: CallOptions,
	): Promise<{ readonly code: number; readonly body: string; readonly retryAfter: string | undefined }> {
		const timeoutMs = connection.requestTimeoutMs || defaultTimeoutMs;
		const timeout = AbortSignal.timeout(timerMs(timeoutMs));
		const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
		return new Promise((resolve, reject) => {
			const fail = (error: Error): void => {
				if (timeout.aborted) reject(new Error(`no answer within ${timeoutMs / 1_000}s`));
				else if (outgoing.reusedSocket && "code" in error && error.code === "ECONNRESET") reject(new ResetError(error));
				else reject(error);
			};
			const make = url.protocol === "http:" ? requestPlain : request;
			const outgoing = make(url, { ...requestOptions, signal }, (response) => {
				parseWarnings(response.headers["warning"]).forEach(onWarning);
				readText(response).then(
					(body) => resolve({ code: response.statusCode ?? 0, body, retryAfter: response.headers["retry-after"] }),
					fail,
				);
			});
			outgoing.on("error", fail);
			outgoing.end(text);
		});
	}

	return {
		server: connection.server,
		get: (path, options = {}) => call("GET", path, undefined, "", options),
		async list<T>(
			path: string,
			{ fieldSelector = "", labelSelector = "", chunkSize = defaultChunkSize }: ListQuery = {},
			options = {},
		) {
			const items: T[] = [];
			let page = "";
			do {
				const query = new URLSearchParams();
				if (fieldSelector !== "") query.set("fieldSelector", fieldSelector);
				if (labelSelector !== "") query.set("labelSelector", labelSelector);
				if (chunkSize > 0) query.set("limit", String(chunkSize));
				if (page !== "") query.set("continue", page);
				const answer = await call<{
					readonly items?: readonly T[];
					readonly metadata?: { readonly continue?: string };
				}>("GET", query.size > 0 ? `${path}?${query.toString()}` : path, undefined, "", options).catch(
					(error: unknown) => {
						throw listError(error, path, { labelSelector, fieldSelector });
					},
				);
				if (!Array.isArray(answer.items)) {
					throw new ConnectionError(connection.server, new Error(`the answer to GET ${path} is no list`));
				}
				for (const item of answer.items) items.push(item);
				page = answer.metadata?.continue ?? "";
			} while (page !== "");
			return items;
		},
		post: (path, body, options = {}) => call("POST", path, body, "application/json", options),
		patch: (path, body, options = {}) => call("PATCH", path, body, "application/strategic-merge-patch+json", options),
		delete: (path, body, options = {}) => call("DELETE", path, body, "application/json", options),
		async dialOptions() {
			const { tls, headers, agent } = await reader.current();
			return { tls: { ...tls, agent }, headers };
		},
		close: () => reader.close(),
	};
}

/** The connection was closed by the server before this request could be answered. */
class ResetError extends Error {
	override readonly name = "ResetError";
	constructor(cause: Error) {
		super(cause.message, { cause });
	}
}

async function readText(response: IncomingMessage): Promise<string> {
	response.setEncoding("utf8");
	let text = "";
	for await (const chunk of response) text += String(chunk);
	return text;
}
