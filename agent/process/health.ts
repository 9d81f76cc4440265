// Serves /healthz, /readyz and /metrics over plain HTTP for kubelets and Prometheus.
//
// Guarantee: a connection costs one request of at most 8 KB and one answer. Later data is never read, so requests cannot be pipelined.
// Connections are limited (connections.ts), and simultaneous scrapes share one collection. Node's HTTP server is not used: it parses every
// request of a packet before any can be refused, and 2,000 requests in 72 KB ended the agent.
import { createServer, type Socket } from "node:net";
import type { Clock } from "./clock.ts";
import type { ListenAddress } from "./config.ts";
import { Connections } from "./connections.ts";
import { longestHead, type ReadHttpRequest, readHttpRequest } from "./http-request.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { listenOn } from "./listen.ts";
import type { Readiness } from "./readiness.ts";

interface HealthOptions {
	readonly address: ListenAddress;
	readonly readiness: Pick<Readiness, "reasons">;
	readonly metrics: { readonly contentType: string; metrics(): Promise<string> };
	readonly clock: Pick<Clock, "now" | "after">;
}

interface HealthServer {
	readonly port: number;
	close(): Promise<void>;
}

interface Answer {
	readonly status: keyof typeof statusTexts;
	readonly body: Buffer;
	readonly type?: string;
}

const statusTexts = {
	200: "OK",
	400: "Bad Request",
	404: "Not Found",
	405: "Method Not Allowed",
	431: "Request Header Fields Too Large",
	500: "Internal Server Error",
	503: "Service Unavailable",
};

/** A collection takes milliseconds, and Prometheus scrapes once a second at most. */
const metricsGoodForMs = 250;

export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
	const { address, clock } = options;
	const connections = new Connections({ after: (ms, action) => clock.after(ms, action) });
	const open = new Set<Socket>();
	const answerTo = createAnswers(options);
	const serve = (socket: Socket): void => {
		socket.on("error", () => undefined);
		if (!connections.accept(socket)) {
			socket.destroy();
			return;
		}
		open.add(socket);
		socket.once("close", () => open.delete(socket));
		readOne(socket, (request) => {
			void answerTo(request).then((answer) => respond(socket, request, answer));
		});
	};
	const listener = await listenOn(address, () => createServer({ noDelay: true }, serve));
	return {
		port: listener.port,
		close: async () => {
			const closed = listener.close();
			for (const socket of open) socket.destroy();
			await closed;
		},
	};
}

type FirstRequest = Exclude<ReadHttpRequest, { readonly kind: "incomplete" }>;

/** Calls back with the first request and reads nothing after it. */
function readOne(socket: Socket, onRequest: (request: FirstRequest) => void): void {
	let head = Buffer.alloc(0);
	const read = (chunk: Buffer): void => {
		// Copied, because a slice would keep the whole chunk in memory.
		head = Buffer.concat([head, chunk.subarray(0, longestHead - head.length)]);
		const request = readHttpRequest(head);
		if (request.kind === "incomplete") return;
		socket.off("data", read);
		socket.pause();
		onRequest(request);
	};
	socket.on("data", read);
}

function createAnswers({ readiness, metrics, clock }: HealthOptions) {
	const collected = new KeptAnswers<Buffer>({ now: () => clock.now(), keepForMs: () => metricsGoodForMs, max: 1 });
	const text = (status: Answer["status"], words: string): Answer => ({ status, body: Buffer.from(`${words}\n`) });
	return async (request: FirstRequest): Promise<Answer> => {
		if (request.kind === "tooLong") return text(431, `Request too long: at most ${longestHead} bytes`);
		if (request.kind === "garbled") return text(400, "Not HTTP");
		if (request.method !== "GET" && request.method !== "HEAD") return text(405, "Only GET is allowed");
		switch (request.path) {
			case "/healthz":
				return text(200, "ok");
			case "/readyz": {
				const { reasons } = readiness;
				return reasons.length === 0 ? text(200, "ok") : text(503, reasons.join("\n"));
			}
			case "/metrics":
				try {
					const body = await collected.get("", async () => Buffer.from(await metrics.metrics()));
					return { status: 200, body, type: metrics.contentType };
				} catch {
					return text(500, "Cannot collect metrics");
				}
			default:
				return text(404, "No such path: use /healthz, /readyz or /metrics");
		}
	};
}

function respond(socket: Socket, request: FirstRequest, { status, body, type }: Answer): void {
	const head = [
		`HTTP/1.1 ${status} ${statusTexts[status]}`,
		`content-type: ${type ?? "text/plain; charset=utf-8"}`,
		`content-length: ${body.length}`,
		"cache-control: no-store",
		"connection: close",
	];
	socket.write(`${head.join("\r\n")}\r\n\r\n`);
	const hasBody = request.kind !== "request" || request.method !== "HEAD";
	// The client may have sent more data, which is dropped.
	socket.end(hasBody ? body : "", () => socket.destroy());
}
