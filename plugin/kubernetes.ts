// A thin client of one API server: node:https with keep-alive, credentials by client-node's KubeConfig (exec plugins,
// OIDC, proxies). It turns every answer that is not 2xx into ApiError and every missing answer into ConnectionError.
import type { IncomingMessage, OutgoingHttpHeaders, RequestOptions } from "node:http";
import { Agent, request } from "node:https";
import { request as requestPlain } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { ConnectionError, readApiError } from "./api-error.ts";
import type { Connection } from "./kubeconfig.ts";
import { clientVersion } from "./client-version.ts";

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

export interface DialOptions {
	readonly tls: RequestOptions;
	readonly headers: OutgoingHttpHeaders;
}

/** kubectl's own page size. */
export const defaultChunkSize = 500;
/** As client-go (rest/with_retry.go): an answer with Retry-After is asked for again this many times. */
const maxRetries = 10;
/** The API server ends a request after 60 s; who hears nothing for longer talks to nobody. */
const defaultTimeoutMs = 65_000;
/** Credentials from files and exec plugins change; how long they are taken for current. */
const credentialsFreshForMs = 30_000;

interface Credentials extends DialOptions {
	readonly agent: Agent;
	readonly fingerprint: string;
	readonly readAt: number;
}

/** A client for the connection; must be closed. */
export function createKubernetesClient(connection: Connection): KubernetesClient {
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
			if (answer.code >= 200 && answer.code < 300) return JSON.parse(answer.body) as T;
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
		const timeout = AbortSignal.timeout(timeoutMs);
		const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
		return new Promise((resolve, reject) => {
			const fail = (error: Error): void => {
				if (timeout.aborted) reject(new Error(`no answer within ${timeoutMs / 1_000}s`));
				else if (outgoing.reusedSocket && "code" in error && error.code === "ECONNRESET") reject(new ResetError(error));
				else reject(error);
			};
			const make = url.protocol === "http:" ? requestPlain : request;
			const outgoing = make(url, { ...requestOptions, signal }, (response) => {
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
				}>("GET", query.size > 0 ? `${path}?${query}` : path, undefined, "", options);
				items.push(...(answer.items ?? []));
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

interface CredentialReader {
	current(): Promise<Credentials>;
	/** Reads everything anew next time; false where nothing could change. */
	forget(): boolean;
	close(): void;
}

/** Reads files and runs exec plugins again from time to time; a changed certificate gets connections of its own. */
function createCredentialReader(connection: Connection): CredentialReader {
	const changing = /"(exec|auth-provider|client-certificate|client-key|certificate-authority)":/.test(
		connection.kubeconfig,
	);
	const agents = new Set<Agent>();
	let kubeConfig:
		| Promise<{ applyToHTTPSOptions(options: RequestOptions): Promise<void>; proxied: boolean }>
		| undefined;
	let pending: Promise<Credentials> | undefined;
	let known: Credentials | undefined;

	async function load(): Promise<{ applyToHTTPSOptions(options: RequestOptions): Promise<void>; proxied: boolean }> {
		const { KubeConfig } = await import("@kubernetes/client-node");
		const config = new KubeConfig();
		config.loadFromString(connection.kubeconfig);
		const proxied = (config.getCurrentCluster()?.proxyUrl ?? "") !== "";
		return { applyToHTTPSOptions: (options) => config.applyToHTTPSOptions(options), proxied };
	}

	async function read(): Promise<Credentials> {
		kubeConfig ??= load();
		const config = await kubeConfig;
		const options: RequestOptions & Record<string, unknown> = {};
		try {
			await config.applyToHTTPSOptions(options);
		} catch (error) {
			throw new ConnectionError(connection.server, error);
		}
		const { ca, cert, key, rejectUnauthorized, servername, auth } = options;
		const tls: Record<string, unknown> = {};
		for (const [name, value] of Object.entries({ ca, cert, key, rejectUnauthorized, servername })) {
			if (value !== undefined && value !== null) tls[name] = value;
		}
		const fingerprint = JSON.stringify([String(ca), String(cert), String(key), rejectUnauthorized, servername]);
		const agent =
			known?.fingerprint === fingerprint ? known.agent : createAgent(tls, config.proxied ? options.agent : undefined);
		agents.add(agent);
		const headers: OutgoingHttpHeaders = {
			"user-agent": `kubectl-xpdb/${clientVersion}`,
			...(options.headers as OutgoingHttpHeaders | undefined),
			...connection.headers,
			...(typeof auth === "string" && { authorization: `Basic ${Buffer.from(auth).toString("base64")}` }),
		};
		return { tls, headers, agent, fingerprint, readAt: performance.now() };
	}

	return {
		async current() {
			if (known && (!changing || performance.now() - known.readAt < credentialsFreshForMs)) return known;
			pending ??= read().finally(() => {
				pending = undefined;
			});
			known = await pending;
			return known;
		},
		forget() {
			if (!changing) return false;
			kubeConfig = undefined;
			known = undefined;
			return true;
		},
		close() {
			for (const agent of agents) agent.destroy();
		},
	};
}

/** `proxied`: the agent that client-node made for a proxy. Without one, HTTPS_PROXY and NO_PROXY hold, as for kubectl. */
function createAgent(tls: Readonly<Record<string, unknown>>, proxied: unknown): Agent {
	if (proxied instanceof Agent) return proxied;
	// Evictions run side by side, each for as long as the server takes; kubectl has no limit at all.
	return new Agent({ ...tls, keepAlive: true, maxSockets: 128, proxyEnv: process.env });
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
