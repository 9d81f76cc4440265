// Calls one API server: JSON requests, paged lists, kubectl's retries. Rejects with ApiError for an answer other than 2xx and with
// ConnectionError for no usable answer, unless the caller stopped the call. client-node's CoreV1Api takes three times the CPU, retries
// nothing and hides Retry-After and Warning.
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
	 * Called synchronously right before the request is written, after all waiting. If it returns false, nothing is sent and the call rejects
	 * with NotSentError. For requests that must not be sent too late.
	 */
	readonly guard?: () => boolean;
	/** False: throw a 429 or 5xx at once, whatever Retry-After says. */
	readonly retry?: boolean;
	/** Requests only metadata: the rest may be secret, or is not needed. */
	readonly metadataOnly?: "object" | "list";
}

export interface ListQuery<T = unknown> {
	readonly fieldSelector?: string;
	readonly labelSelector?: string;
	/** Objects per page. 0: all in one page. */
	readonly chunkSize?: number;
	/** Called after each page with all objects so far. The list ends when it returns true. */
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
	/** A strategic merge patch. */
	patch<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	/** A merge patch: custom resources do not support strategic ones. */
	mergePatch<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	apply<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	delete<T>(path: string, body: unknown, options?: CallOptions): Promise<T>;
	/** Returns an answer that is still arriving. Rejects if its code is not 200, or if it has not begun within `withinMs`. */
	stream(path: string, options: StreamOptions): Promise<IncomingMessage>;
	webSocket(path: string, protocol: string): Promise<WebSocket>;
	close(): void;
}

/** kubectl's page size. */
export const defaultChunkSize = 500;
/** client-go's limit for answers with Retry-After (rest/with_retry.go). */
const maxRetries = 10;

export const metadataTypes = {
	object: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
	list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
} as const;

/** The client must be closed. */
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
				if (isRecord(content)) return content;
				// For example, an HTML page from a proxy.
				throw new ConnectionError(
					connection.server,
					new Error(`the answer to ${method} ${path} is not an object of the API`),
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
		// The server may close an idle connection just as it is reused. Only a read is sent again: a write may have been applied.
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
				// In Go's order, so that -v=6 shows the same URLs as kubectl.
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
				// An empty metadata-only list has null items.
				const isEmpty = answer.kind === "PartialObjectMetadataList" && answer.items === null;
				const listed = isEmpty ? [] : answer.items;
				if (!Array.isArray(listed)) {
					throw new ConnectionError(connection.server, new Error(`the answer to GET ${path} is not a list`));
				}
				for (const item of listed) items.push(item);
				page = isEnough?.(items) === true ? "" : (answer.metadata?.continue ?? "");
			} while (page !== "");
			return items;
		},
		post: (path, body, options = {}) => call("POST", path, body, "application/json", options),
		patch: (path, body, options = {}) => call("PATCH", path, body, "application/strategic-merge-patch+json", options),
		mergePatch: (path, body, options = {}) => call("PATCH", path, body, "application/merge-patch+json", options),
		// JSON is valid YAML.
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
