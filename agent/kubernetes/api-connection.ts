// Connects the agent to its own API server. All requests and watches share one HTTP/2 session, which is opened again when it ends.
// Guarantee: every request is answered or rejected within its deadline, even if the server is frozen. An incomplete answer is never taken
// for a complete one. Requests are not retried here.
//
// @kubernetes/client-node 2.0 is not used: importing it costs 90 MB of memory, and node:http2 only 12 MB (Node 24). The client also sends
// no pings, and notices a frozen server only after 30 s. A view is dead after 5 s.
import { type ClientHttp2Stream, constants, type OutgoingHttpHeaders } from "node:http2";
import { agentName } from "../../disruption/agent-names.ts";
import { AgentUnavailableError, type Silent } from "../../disruption/errors.ts";
import { explainDialError } from "../../proto/dial-options.ts";
import { LineSplitter } from "../../proto/line-splitter.ts";
import { withoutNodeAdvice } from "../../proto/verified-tls.ts";
import type { Clock } from "../process/clock.ts";
import type { ApiAccess } from "./api-access.ts";
import { ApiSession } from "./api-session.ts";
import { FrameSplitter } from "./frame-splitter.ts";
import { readProtobufObject } from "./read-protobuf.ts";
import { SeenVersions } from "./seen-versions.ts";

/** Half of a lease duration. The API server normally answers in milliseconds. */
const requestDeadlineMs = 5_000;
/** How long the headers of a watch may take: long enough for a busy API server to fill its watch cache. */
const openDeadlineMs = 10_000;
/** How long a token is used before it is read again. Tokens are rotated minutes before they expire. */
const tokenCacheMs = 10_000;
const protobuf = "application/vnd.kubernetes.protobuf";
const protobufWatch = `${protobuf};stream=watch`;

export interface ApiRequestOptions {
	readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
	/** Path and query, as in /api/v1/pods?limit=500. */
	readonly path: string;
	readonly body?: unknown;
	/** If left out, "application/json". */
	readonly contentType?: string;
	/** If left out, "application/json". */
	readonly accept?: string;
	/** For messages, after "cannot": 'read Lease "a"'. */
	readonly what?: string;
	readonly deadlineMs?: number;
	readonly signal?: AbortSignal;
}

export interface ApiAnswer {
	readonly status: number;
	/** The parsed JSON; a body that is not JSON is a string. */
	readonly body: unknown;
}

export interface ApiRequest {
	/**
	 * Resolves with any answer, including a refusal. Rejects with AgentUnavailableError if there was none, and with the reason of `signal` if
	 * that aborts.
	 */
	request(options: ApiRequestOptions): Promise<ApiAnswer>;
}

export interface ApiStreamOptions {
	readonly path: string;
	readonly what?: string;
	readonly signal: AbortSignal;
	/** Called with each whole line. An error that it throws ends the stream and rejects. */
	readonly line: (line: string) => void;
	/** If set, the server may answer in protobuf. Then this is called with each frame in the place of `line`. */
	readonly frame?: ((frame: Buffer) => void) | undefined;
	/**
	 * Called with a time of the clock at which the server is known to have been alive. The time is never before the server opened this stream.
	 */
	readonly signOfLife: (at: number) => void;
}

export interface ApiConnection extends ApiRequest {
	/** For messages. */
	readonly cluster: string;
	/** The versions of this server's answers, to notice when they go back. */
	readonly versions: SeenVersions;
	/** How long the server has owed an answer or a sign of life; 0 if it owes none. */
	readonly silentMs: number;
	/**
	 * The number of the session that a request sent now would use, even if that session must still be opened. A session does not outlive
	 * its API server.
	 */
	readonly session: number;
	/** Whether that session is established. */
	readonly connected: boolean;
	/**
	 * Reads lines until the stream ends. Resolves to undefined if the server or `signal` ended it, or to the answer if that is not a 200.
	 * Rejects with AgentUnavailableError if the connection broke or the server did not answer in time, and with any error that `line` threw.
	 */
	stream(options: ApiStreamOptions): Promise<ApiAnswer | undefined>;
	/** Ends all requests and streams; later requests reject. */
	close(): void;
}

type Described = Pick<ApiRequestOptions, "path" | "what"> & { readonly method?: string };

export function createApiConnection(options: {
	readonly access: ApiAccess;
	readonly clock: Clock;
	readonly cluster: string;
	readonly userAgent?: string;
}): ApiConnection {
	return new HttpApiConnection(options);
}

class HttpApiConnection implements ApiConnection {
	readonly cluster: string;
	readonly versions = new SeenVersions();
	readonly #access: ApiAccess;
	readonly #clock: Clock;
	readonly #userAgent: string;
	readonly #pathPrefix: string;
	readonly #sessions = new Set<ApiSession>();
	/** When the requests without an answer were sent. */
	readonly #askedAt = new Set<{ readonly ms: number }>();
	#session: ApiSession | undefined;
	#sessionsMade = 0;
	#token: { readonly value: string | undefined; readonly readAt: number } | undefined;
	#closed = false;

	constructor(options: Parameters<typeof createApiConnection>[0]) {
		this.cluster = options.cluster;
		this.#access = options.access;
		this.#clock = options.clock;
		this.#userAgent = options.userAgent ?? agentName;
		this.#pathPrefix = new URL(options.access.server).pathname.replace(/\/$/, "");
	}

	get silentMs(): number {
		const now = this.#clock.now();
		return Math.max(this.#session?.silentMs ?? 0, ...[...this.#askedAt].map((at) => now - at.ms));
	}

	get session(): number {
		return this.#session?.usable ? this.#sessionsMade : this.#sessionsMade + 1;
	}

	get connected(): boolean {
		return this.#session !== undefined && this.#session.usable && this.#session.connected;
	}

	async request(options: ApiRequestOptions): Promise<ApiAnswer> {
		options.signal?.throwIfAborted();
		const { session, stream } = this.#open(options);
		const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer>();
		const chunks: Buffer[] = [];
		let ended = false;
		const deadlineMs = options.deadlineMs ?? requestDeadlineMs;
		const askedAt = { ms: this.#clock.now() };
		this.#askedAt.add(askedAt);
		const cancelDeadline = this.#clock.after(deadlineMs, () => {
			reject(this.#unavailable(options, `its API server did not answer within ${deadlineMs / 1000} s`));
		});
		const aborted = () => reject(options.signal?.reason);
		options.signal?.addEventListener("abort", aborted, { once: true });
		stream.on("data", (chunk: Buffer) => chunks.push(chunk));
		stream.on("end", () => (ended = true));
		onClose(stream, session, (status, failure) => {
			if (status === 0 || !ended || failure !== undefined) reject(this.#broken(options, failure));
			else resolve({ status, body: parseBody(Buffer.concat(chunks).toString("utf8")) });
		});
		try {
			const answer = await promise;
			if (answer.status === 401) this.#token = undefined;
			return answer;
		} finally {
			this.#askedAt.delete(askedAt);
			cancelDeadline();
			options.signal?.removeEventListener("abort", aborted);
			if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
		}
	}

	async stream(options: ApiStreamOptions): Promise<ApiAnswer | undefined> {
		const { signal, signOfLife, frame } = options;
		if (signal.aborted) return undefined;
		const accept = frame && { accept: `${protobufWatch},application/json;stream=watch` };
		const { session, stream } = this.#open({ ...options, ...accept, method: "GET" });
		const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer | undefined>();
		const refusal: Buffer[] = [];
		let openedAt = Number.POSITIVE_INFINITY;
		let ended = false;
		// After a failed line no later line is delivered, because a watch must not skip a change.
		let over = false;
		let isProtobuf = false;
		const lines = new LineSplitter((line) => {
			if (!over && !signal.aborted) options.line(line);
		});
		const frames = new FrameSplitter((bytes) => {
			if (!over && !signal.aborted) frame?.(bytes);
		});
		const cancelDeadline = this.#clock.after(openDeadlineMs, () => {
			reject(this.#unavailable(options, `its API server did not answer within ${openDeadlineMs / 1000} s`));
		});
		const aborted = () => resolve(undefined);
		signal.addEventListener("abort", aborted, { once: true });
		const stopPulse = session.onPulse((sentAt) => {
			if (sentAt >= openedAt && !over && !signal.aborted) signOfLife(sentAt);
		});
		stream.on("response", (headers) => {
			cancelDeadline();
			isProtobuf = frame !== undefined && headers["content-type"]?.startsWith(protobuf) === true;
			if (headers[":status"] === 200) openedAt = this.#clock.now();
		});
		stream.on("data", (chunk: Buffer) => {
			if (over || signal.aborted) return;
			if (openedAt === Number.POSITIVE_INFINITY) {
				refusal.push(chunk);
				return;
			}
			try {
				(isProtobuf ? frames : lines).push(chunk);
				signOfLife(this.#clock.now());
			} catch (error) {
				over = true;
				reject(error instanceof RangeError ? this.#unavailable(options, error.message, { cause: error }) : error);
			}
		});
		stream.on("end", () => (ended = true));
		onClose(stream, session, (status, failure) => {
			const whole = status !== 0 && ended && failure === undefined && !lines.unfinished && !frames.unfinished;
			if (!whole) reject(this.#broken(options, failure));
			else if (status === 200) resolve(undefined);
			else {
				const body = Buffer.concat(refusal);
				resolve({ status, body: isProtobuf ? readProtobufBody(body) : parseBody(body.toString("utf8")) });
			}
		});
		try {
			const answer = await promise;
			if (answer?.status === 401) this.#token = undefined;
			return answer;
		} finally {
			over = true;
			cancelDeadline();
			stopPulse();
			signal.removeEventListener("abort", aborted);
			if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
		}
	}

	close(): void {
		this.#closed = true;
		for (const session of this.#sessions) session.end(new Error("the agent is stopping"));
	}

	#open(options: Pick<ApiRequestOptions, "method" | "path" | "body" | "contentType" | "accept" | "what">): {
		readonly session: ApiSession;
		readonly stream: ClientHttp2Stream;
	} {
		if (this.#closed) throw this.#unavailable(options, "the agent is stopping", { silent: "agent" });
		let body: string | undefined;
		if (options.body !== undefined) body = JSON.stringify(options.body);
		try {
			const session = this.#current();
			const token = this.#bearerToken();
			const headers: OutgoingHttpHeaders = {
				":method": options.method,
				":path": this.#pathPrefix + options.path,
				accept: options.accept ?? "application/json",
				"user-agent": this.#userAgent,
				...(token !== undefined && { authorization: `Bearer ${token}` }),
				...(body !== undefined && { "content-type": options.contentType ?? "application/json" }),
			};
			const stream = session.http2.request(headers, { endStream: body === undefined });
			if (body !== undefined) stream.end(body);
			return { session, stream };
		} catch (error) {
			// A file cannot be read, TLS material is invalid, or the session has just ended.
			const why = error instanceof Error ? error.message : String(error);
			throw this.#unavailable(options, why, { cause: error, silent: "unknown" });
		}
	}

	#current(): ApiSession {
		if (this.#session?.usable) return this.#session;
		const session = new ApiSession({ access: this.#access, clock: this.#clock });
		this.#sessionsMade += 1;
		this.#sessions.add(session);
		session.http2.on("close", () => this.#sessions.delete(session));
		this.#session = session;
		return session;
	}

	#bearerToken(): string | undefined {
		const now = this.#clock.now();
		if (!this.#token || now - this.#token.readAt > tokenCacheMs) {
			this.#token = { value: this.#access.token(), readAt: now };
		}
		return this.#token.value;
	}

	#broken(options: Described, failure: unknown): AgentUnavailableError {
		const why =
			failure instanceof Error ? withoutNodeAdvice(explainDialError(failure).message) : "the answer was broken off";
		return this.#unavailable(options, `no answer from its API server: ${why}`, { cause: failure });
	}

	#unavailable(
		options: Described,
		why: string,
		{ cause, silent = "apiServer" }: { readonly cause?: unknown; readonly silent?: Silent } = {},
	): AgentUnavailableError {
		const what = options.what ?? `${options.method ?? "GET"} ${options.path}`;
		const message = `cannot ${what} in cluster "${this.cluster}": ${why}`;
		return new AgentUnavailableError(message, this.cluster, { cause, silent });
	}
}

/** Calls back with how a stream ended: its status (0 if no headers came), and why it ended early. */
function onClose(
	stream: ClientHttp2Stream,
	session: ApiSession,
	closed: (status: number, failure: unknown) => void,
): void {
	let status = 0;
	let failure: unknown;
	stream.on("response", (headers) => (status = headers[":status"] ?? 0));
	// Without a connection, the stream's own error says only that it was cancelled.
	stream.on("error", (error) => (failure ??= error.cause ?? error));
	stream.on("close", () => {
		const cutOff = stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
		if (cutOff) failure ??= new Error("the API server broke the answer off");
		closed(status, failure === undefined ? undefined : (session.failure ?? failure));
	});
}

/** Returns a Status as its JSON would be; the text of a body that cannot be read. */
function readProtobufBody(body: Buffer): unknown {
	try {
		return readProtobufObject(body, {});
	} catch {
		return body.toString("utf8");
	}
}

function parseBody(text: string): unknown {
	try {
		const body: unknown = JSON.parse(text);
		return body;
	} catch {
		return text; // A proxy's page, or a plain "404 page not found".
	}
}
