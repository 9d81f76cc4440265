import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { KeyPair } from "./certificates.ts";
import { codeOf } from "./setup-error.ts";

export class ApiError extends Error {
	readonly status: number;
	readonly reason: string;

	constructor(message: string, options: { readonly status: number; readonly reason: string }) {
		super(message);
		this.name = "ApiError";
		this.status = options.status;
		this.reason = options.reason;
	}
}

export type WatchEvent<T> = { readonly type: string; readonly object: T };

/** A minimal Kubernetes client. A generated one would start more slowly. */
export type ApiClient = {
	readonly server: string;
	get<T>(path: string): Promise<T>;
	send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown, contentType?: string): Promise<T>;
	/** Calls back for each event until the server ends the stream or the signal aborts it. */
	watch<T>(path: string, onEvent: (event: WatchEvent<T>) => void, signal: AbortSignal): Promise<void>;
	close(): void;
};

// A frozen API server never answers. A call must fail well before a test times out.
const requestTimeoutMs = 30_000;

export const applyPatch = "application/apply-patch+yaml";
export const strategicMergePatch = "application/strategic-merge-patch+json";

export type Impersonation = { readonly user: string; readonly groups?: readonly string[] };

export function createApiClient(options: {
	readonly server: string;
	readonly authority: string;
	readonly credentials: KeyPair | { readonly token: string };
	readonly as?: Impersonation;
}): ApiClient {
	const { as, credentials } = options;
	const pair = "token" in credentials ? {} : { cert: credentials.certificate, key: credentials.key };
	const tls = { ca: options.authority, ...pair };
	const identity = {
		...("token" in credentials && { authorization: `Bearer ${credentials.token}` }),
		...(as !== undefined && { "impersonate-user": as.user, "impersonate-group": [...(as.groups ?? [])] }),
	};
	const agent = new Agent({ ...tls, keepAlive: true, maxSockets: 128 });

	function open(
		method: string,
		path: string,
		extra: { readonly body?: string; readonly contentType?: string; readonly signal?: AbortSignal },
	): Promise<IncomingMessage> {
		return new Promise((resolve, reject) => {
			const outgoing = request(
				new URL(path, options.server),
				{
					method,
					agent,
					headers: {
						accept: "application/json",
						"user-agent": "xpdb-bench",
						...identity,
						...(extra.body === undefined
							? {}
							: {
									"content-type": extra.contentType ?? "application/json",
									"content-length": Buffer.byteLength(extra.body),
								}),
					},
					...(extra.signal === undefined
						? { signal: AbortSignal.timeout(requestTimeoutMs) }
						: { signal: extra.signal }),
				},
				resolve,
			);
			outgoing.on("error", (error) => {
				// The server may have closed an idle connection. A GET can be repeated safely.
				const isStale = method === "GET" && outgoing.reusedSocket && codeOf(error) === "ECONNRESET";
				if (isStale) open(method, path, extra).then(resolve, reject);
				else reject(error);
			});
			outgoing.end(extra.body);
		});
	}

	async function call<T>(method: string, path: string, body?: unknown, contentType?: string): Promise<T> {
		const response = await open(method, path, {
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
			...(contentType === undefined ? {} : { contentType }),
		});
		const text = await textOf(response);
		const status = response.statusCode ?? 0;
		if (status < 200 || status > 299) {
			throw apiError(`${method} ${path}`, status, text);
		}
		// Health endpoints answer "ok".
		return (text.startsWith("{") ? JSON.parse(text) : text) as T;
	}

	return {
		server: options.server,
		get: (path) => call("GET", path),
		send: (method, path, body, contentType) => call(method, path, body, contentType),
		async watch<T>(path: string, onEvent: (event: WatchEvent<T>) => void, signal: AbortSignal) {
			const response = await open("GET", path, { signal });
			if (response.statusCode !== 200) {
				throw apiError(`GET ${path}`, response.statusCode ?? 0, await textOf(response));
			}
			for await (const line of createInterface({ input: response })) {
				onEvent(JSON.parse(line) as WatchEvent<T>);
			}
		},
		close: () => agent.destroy(),
	};
}

async function textOf(response: IncomingMessage): Promise<string> {
	response.setEncoding("utf8");
	let text = "";
	for await (const chunk of response) {
		text += String(chunk);
	}
	return text;
}

function apiError(action: string, status: number, text: string): ApiError {
	let message = text.trim();
	let reason = "";
	if (text.startsWith("{")) {
		const body = JSON.parse(text) as { message?: string; reason?: string };
		message = body.message ?? message;
		reason = body.reason ?? "";
	}
	return new ApiError(`${action}: ${status} ${message}`, { status, reason });
}

export function isStatus(error: unknown, status: number): boolean {
	return error instanceof ApiError && error.status === status;
}

export type Listed = { readonly metadata: { readonly uid: string; readonly resourceVersion: string } };

/**
 * Lists and then watches until the signal aborts. Lists again after each watch and each transient failure, so that the caller always gets
 * the complete state. Rejects on other failures. `path` is a collection with its query.
 */
export async function follow<T extends Listed>(options: {
	readonly client: ApiClient;
	readonly path: string;
	readonly signal: AbortSignal;
	readonly onList: (objects: readonly T[]) => void;
	readonly onEvent: (event: WatchEvent<T>) => void;
}): Promise<void> {
	const { client, path, signal } = options;
	const separator = path.includes("?") ? "&" : "?";
	while (!signal.aborted) {
		try {
			const list = await client.get<{ items: T[]; metadata: { resourceVersion: string } }>(path);
			options.onList(list.items);
			// Renews the watch every few minutes, so that a dead watch does not last.
			const query = `watch=true&timeoutSeconds=120&resourceVersion=${list.metadata.resourceVersion}`;
			const lifetime = AbortSignal.any([signal, AbortSignal.timeout(150_000)]);
			await client.watch<T>(
				`${path}${separator}${query}`,
				(event) => {
					if (event.type !== "ERROR" && event.type !== "BOOKMARK") {
						options.onEvent(event);
					}
				},
				lifetime,
			);
		} catch (error) {
			if (!isTransient(error)) {
				throw error;
			}
		}
		await delay(200, undefined, { signal }).catch(() => undefined);
	}
}

/** Whether a retry may succeed. This includes 403, which API servers can answer while they start. */
export function isTransient(error: unknown): boolean {
	if (error instanceof ApiError) {
		return error.status >= 500 || error.status === 429 || error.status === 410 || error.status === 403;
	}
	return (
		codeOf(error) !== undefined ||
		(error instanceof Error && /Abort|Timeout|aborted|hang up/.test(`${error.name} ${error.message}`))
	);
}
