import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import type { KubernetesClient } from "../../../plugin/kubernetes/kubernetes-client.ts";
import { clientOfServer } from "../../support/client-of-server.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let server: Server | undefined;
let client: KubernetesClient | undefined;

afterEach(() => {
	client?.close();
	server?.closeAllConnections();
	server?.close();
});

/** Returns a client of a server with this handler. Requests are recorded as "METHOD PATH". */
async function start(handle: Handler, flags: Readonly<Record<string, unknown>> = {}) {
	const requests: string[] = [];
	const warnings: string[] = [];
	server = createServer((request, response) => {
		let body = "";
		request.on("data", (chunk: Buffer) => {
			body += chunk.toString();
		});
		request.on("end", () => {
			requests.push(`${request.method} ${request.url}`);
			handle(request, response, body);
		});
	});
	await new Promise<void>((resolve) => {
		server?.listen(0, "127.0.0.1", resolve);
	});
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("no port");
	client = clientOfServer(
		address.port,
		{ token: "secret", ...flags },
		{ onWarning: (message) => void warnings.push(message) },
	);
	return { client, requests, warnings };
}

function answer(response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}): void {
	response.writeHead(code, { "content-type": "application/json", ...headers });
	response.end(JSON.stringify(body));
}

const failure = (message: string, reason = ""): object => ({ kind: "Status", status: "Failure", message, reason });

describe("createKubernetesClient()", () => {
	test("sends the token, our name and who is impersonated", async () => {
		let headers: NodeJS.Dict<string | string[]> = {};
		const { client } = await start(
			(request, response) => {
				headers = request.headers;
				answer(response, 200, {});
			},
			{ as: "bob", "as-group": ["x", "y"] },
		);
		await client.get("/version");
		expect(headers).toMatchObject({
			authorization: "Bearer secret",
			"impersonate-user": "bob",
			"impersonate-group": "x, y",
			"user-agent": expect.stringMatching(/^kubectl-xpdb\/v\d/),
		});
	});

	test("sends a name without a password as kubectl does", async () => {
		let authorization: string | undefined;
		const { client } = await start(
			(request, response) => {
				({ authorization } = request.headers);
				answer(response, 200, {});
			},
			{ token: undefined, username: "bob" },
		);
		await client.get("/version");
		expect(authorization).toBe(`Basic ${Buffer.from("bob:").toString("base64")}`);
	});

	test("patches strategically, posts and deletes JSON", async () => {
		const types: (string | undefined)[] = [];
		const { client, requests } = await start((request, response, body) => {
			types.push(request.headers["content-type"]);
			answer(response, 200, { got: JSON.parse(body) });
		});
		expect(await client.patch("/a", { x: 1 })).toEqual({ got: { x: 1 } });
		await client.post("/b", {});
		await client.delete("/c", {});
		expect(requests).toEqual(["PATCH /a", "POST /b", "DELETE /c"]);
		expect(types).toEqual(["application/strategic-merge-patch+json", "application/json", "application/json"]);
	});

	test("lists no further page than is enough", async () => {
		const { client, requests } = await start((_, response) => {
			answer(response, 200, { items: [1, 2], metadata: { continue: "next" } });
		});
		const isEnough = (items: readonly number[]): boolean => items.length > 3;
		expect(await client.list("/nodes", { chunkSize: 2, isEnough })).toEqual([1, 2, 1, 2]);
		expect(requests).toHaveLength(2);
	});

	test("lists page by page", async () => {
		const { client, requests } = await start((request, response) => {
			const page = new URL(request.url ?? "", "http://x").searchParams.get("continue");
			answer(response, 200, page ? { items: [3] } : { items: [1, 2], metadata: { continue: "next" } });
		});
		expect(await client.list("/pods", { fieldSelector: "spec.nodeName=n1", chunkSize: 2 })).toEqual([1, 2, 3]);
		expect(requests).toEqual([
			"GET /pods?fieldSelector=spec.nodeName%3Dn1&limit=2",
			"GET /pods?continue=next&fieldSelector=spec.nodeName%3Dn1&limit=2",
		]);
	});

	test("takes no page of a proxy, no half answer and no list without items for an answer", async () => {
		let body = "";
		const { client } = await start((_request, response) => {
			response.writeHead(200);
			response.end(body);
		});
		for (body of ["<html>Log in</html>", '{"items":[', "", "null", "[]", '{"items":null}', '{"items":{}}']) {
			const listed = client.list("/api/v1/pods");
			await expect(listed).rejects.toBeInstanceOf(ConnectionError);
			await expect(listed).rejects.toThrow(
				/^the answer to GET \/api\/v1\/pods.* is not (an object of the API|a list)$/,
			);
		}
	});

	test("takes a list of metadata without items for an empty one, as API servers write it", async () => {
		const { client } = await start((_request, response) =>
			answer(response, 200, { kind: "PartialObjectMetadataList", metadata: { resourceVersion: "1" }, items: null }),
		);
		expect(await client.list("/api/v1/namespaces/a/limitranges")).toEqual([]);
	});

	test("turns an answer other than 2xx into ApiError", async () => {
		const { client } = await start((_request, response) =>
			answer(response, 404, failure('nodes "x" not found', "NotFound")),
		);
		await expect(client.get("/api/v1/nodes/x")).rejects.toMatchObject({
			name: "ApiError",
			code: 404,
			reason: "NotFound",
			message: 'nodes "x" not found',
		});
	});

	test("asks again where Retry-After says so, as client-go does", async () => {
		let count = 0;
		const { client, requests } = await start((_request, response) => {
			count += 1;
			if (count < 3) answer(response, 429, failure("slow down"), { "retry-after": "0" });
			else answer(response, 200, { ok: true });
		});
		expect(await client.get("/x")).toEqual({ ok: true });
		expect(requests).toHaveLength(3);
	});

	test("does not ask again without Retry-After, nor where it must not", async () => {
		const { client, requests } = await start((request, response) =>
			answer(response, 429, failure("budget"), request.url === "/with" ? { "retry-after": "0" } : {}),
		);
		await expect(client.post("/without", {})).rejects.toMatchObject({ code: 429 });
		await expect(client.post("/with", {}, { retry: false })).rejects.toMatchObject({ code: 429, retryAfterSeconds: 0 });
		expect(requests).toHaveLength(2);
	});

	test("reads once more where an idle connection was closed under it, but never writes twice", async () => {
		let close = false;
		const { client, requests } = await start((request, response) => {
			if (close) {
				close = false;
				request.socket.destroy();
			} else answer(response, 200, {});
		});
		await client.get("/warm");
		close = true;
		await client.get("/read");
		close = true;
		await expect(client.post("/write", {})).rejects.toMatchObject({ name: "ConnectionError", code: "ECONNRESET" });
		expect(requests).toEqual(["GET /warm", "GET /read", "GET /read", "POST /write"]);
	});

	test("passes on what the server warns of, also beside a refusal", async () => {
		const { client, warnings } = await start((request, response) => {
			const isOld = request.url === "/old";
			answer(response, isOld ? 200 : 403, isOld ? {} : failure("no"), { warning: `299 - "${request.url}"` });
		});
		await client.get("/old");
		await expect(client.get("/forbidden")).rejects.toThrow("no");
		expect(warnings).toEqual(["/old", "/forbidden"]);
	});

	test("gives up after --request-timeout", async () => {
		const { client } = await start(() => undefined, { "request-timeout": 50 });
		await expect(client.get("/slow")).rejects.toMatchObject({
			name: "ConnectionError",
			message: "no answer within 50ms",
		});
	});

	test("names a server that is not there", async () => {
		const { client } = await start(() => undefined);
		server?.close();
		await expect(client.get("/x")).rejects.toMatchObject({ name: "ConnectionError", code: "ECONNREFUSED" });
	});

	test("ends with the signal of the caller", async () => {
		const { client } = await start(() => undefined);
		const stop = new AbortController();
		const answer = client.get("/slow", { signal: stop.signal });
		stop.abort(new Error("enough"));
		await expect(answer).rejects.toThrow("enough");
	});

	test("a stream that is not opened in time is no bug of ours", async () => {
		const { client } = await start(() => undefined);
		const opening = client.stream("/version", { accept: "application/json", withinMs: 20 });
		await expect(opening).rejects.toBeInstanceOf(ConnectionError);
		await expect(opening).rejects.toThrow("no answer within 20ms");
	});
});
