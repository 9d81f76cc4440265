// A thin client of one API server: calls with JSON, lists page by page, kubectl's retries. Instead of client-node's CoreV1Api: a list of
// 1,000 pods takes 40 ms of CPU there and 14 here; it asks for nothing again, lists no further page, and hides Retry-After and Warning.
// It turns every answer that is not 2xx into ApiError and every missing answer into ConnectionError.
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { WebSocket } from "ws";
import { isRecord } from "../../disruption/record.ts";
import { type ApiAnswer, createApiDialer, type DialerOptions, ResetError } from "./api-dialer.ts";
import { ConnectionError, listError, NotSentError, readApiError } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import { parseWarnings } from "./server-warning.ts";

export interface CallOptions {
	readonly signal?: AbortSignal;
	/**
	 * Called synchronously right before the request is written, after every wait: for credentials, a free slot, a connection.
	 * If false, nothing is sent, and the call rejects with NotSentError. For any request that depends on an age.
	 */
	readonly guard?: () => boolean;
	/** False: a 429 or 5xx comes back at once, whatever Retry-After says. */
	readonly retry?: boolean;
	/** Of the object, or of those of a list, nothing but metadata is sent: for one that has a secret in it, and for many. */
	readonly metadataOnly?: "object" | "list";
}

export interface ListQuery<T = unknown> {
	readonly fieldSelector?: string;
	readonly labelSelector?: string;
	/** Objects per page; 0: all at once. */
	readonly chunkSize?: number;
	/** Asked after each page, of all so far: true ends the list there. */
	readonly isEnough?: (items: readonly T[]) => boolean;
}

export interface StreamOptions {
	readonly accept: string;
	readonly withinMs: number;
	readonly signal?: AbortSignal;
}

export interface KubernetesClient {
	readonly server: string;
	get<T>(path: string, options?: CallOptions): Promise<T>;
	list<T>(path: string, query?: ListQuery<T>, options?: CallOptions): Promise<readonly T[]>;
	post<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	/** A strategic merge patch. `query` begins with "?" where there is one. */
	patch<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	/** A merge patch: custom resources take no strategic one. */
	mergePatch<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	/** A server-side apply. */
	apply<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	delete<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	/** An answer that is read while it comes. Rejects where it is not 200, or has not begun within so many ms. */
	stream(path: string, options: StreamOptions): Promise<IncomingMessage>;
	/** One that is still connecting. */
	webSocket(path: string, protocol: string): Promise<WebSocket>;
	close(): void;
}

/** kubectl's own page size. */
export const defaultChunkSize = 500;
/** As client-go (rest/with_retry.go): an answer with Retry-After is asked for again this many times. */
const maxRetries = 10;

export const metadataTypes = {
	object: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
	list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
} as const;

/** A client for the connection; must be closed. `onWarning`: what the server says beside its answers. */
export function createKubernetesClient(
	connection: Connection,
	onWarning: (message: string) => void = () => undefined,
	options: DialerOptions = {},
): KubernetesClient {
	const dialer = createApiDialer(connection, options);

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
				if (isRecord(content)) return content;
				// The page of a proxy, or half of an answer.
				throw new ConnectionError(
					connection.server,
					new Error(`the answer to ${method} ${path} is no object of the API`),
				);
			}
			const error = readApiError(answer.code, answer.body, answer.headers["retry-after"]);
			if (error.code === 401 && attempt === 0 && dialer.forget()) continue;
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
	): Promise<ApiAnswer> {
		const text = body === undefined ? undefined : JSON.stringify(body);
		const headers: OutgoingHttpHeaders = {
			accept: options.metadataOnly ? metadataTypes[options.metadataOnly] : "application/json",
			...(text !== undefined && { "content-type": contentType, "content-length": Buffer.byteLength(text) }),
		};
		// An idle connection may be closed by the server just as it is used again. A read is then asked once more; for a
		// write nobody knows what happened, and the caller decides.
		for (let attempt = 0; ; attempt += 1) {
			try {
				const { signal, guard } = options;
				const answer = await dialer.exchange({ method, path, headers, body: text, signal, guard });
				parseWarnings(answer.headers["warning"]).forEach(onWarning);
				return answer;
			} catch (error) {
				if (options.signal?.aborted) throw options.signal.reason;
				if (error instanceof ConnectionError || error instanceof NotSentError) throw error;
				const reset = error instanceof ResetError;
				if (reset && method === "GET" && attempt === 0) continue;
				throw new ConnectionError(connection.server, reset ? error.cause : error);
			}
		}
	}

	return {
		server: connection.server,
		get: (path, options = {}) => call("GET", path, undefined, "", options),
		async list<T>(
			path: string,
			{ fieldSelector = "", labelSelector = "", chunkSize = defaultChunkSize, isEnough }: ListQuery<T> = {},
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
				// As Go writes them, for whoever reads -v=6.
				query.sort();
				const answer = await call<{
					readonly kind?: string;
					readonly items?: readonly T[] | null;
					readonly metadata?: { readonly continue?: string };
				}>("GET", query.size > 0 ? `${path}?${query.toString()}` : path, undefined, "", options).catch(
					(error: unknown) => {
						throw listError(error, path, { labelSelector, fieldSelector });
					},
				);
				// So an API server writes that there is none, where metadata alone was asked for.
				const isEmpty = answer.kind === "PartialObjectMetadataList" && answer.items === null;
				const listed = isEmpty ? [] : answer.items;
				if (!Array.isArray(listed)) {
					throw new ConnectionError(connection.server, new Error(`the answer to GET ${path} is no list`));
				}
				for (const item of listed) items.push(item);
				page = isEnough?.(items) === true ? "" : (answer.metadata?.continue ?? "");
			} while (page !== "");
			return items;
		},
		post: (path, body, options = {}) => call("POST", path, body, "application/json", options),
		patch: (path, body, options = {}) => call("PATCH", path, body, "application/strategic-merge-patch+json", options),
		mergePatch: (path, body, options = {}) => call("PATCH", path, body, "application/merge-patch+json", options),
		// JSON is YAML.
		apply: (path, body, options = {}) => call("PATCH", path, body, "application/apply-patch+yaml", options),
		delete: (path, body, options = {}) => call("DELETE", path, body, "application/json", options),
		async stream(path, { accept, withinMs, signal }) {
			const response = await dialer
				.open({ method: "GET", path, headers: { accept }, signal }, withinMs)
				.catch((error: unknown) => {
					if (signal?.aborted) throw signal.reason;
					throw error instanceof ConnectionError ? error : new ConnectionError(connection.server, error);
				});
			if (response.statusCode === 200) return response;
			response.destroy();
			throw readApiError(response.statusCode ?? 0, "", response.headers["retry-after"]);
		},
		webSocket: (path, protocol) => dialer.webSocket(path, protocol),
		close: () => dialer.close(),
	};
}
