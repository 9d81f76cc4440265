import { constants } from "node:http2";
import { afterEach, describe, expect, test } from "vitest";
import { type ApiConnection, createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { type ScriptedRequest, type ScriptedServer, startScriptedServer } from "../../support/scripted-api-server.ts";
import { createSkippingClock, patiently, type SkippingClock } from "../../support/skipping-clock.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
	for (const one of open.splice(0).toReversed()) await one.close();
});

async function setUp(
	handle: (request: ScriptedRequest) => void,
	options: { readonly token?: () => string; readonly prefix?: string } = {},
): Promise<{ server: ScriptedServer; connection: ApiConnection; clock: SkippingClock }> {
	const clock = createSkippingClock();
	const server = await startScriptedServer(handle);
	open.push(server);
	const connection = createApiConnection({
		access: {
			...server.access,
			server: server.access.server + (options.prefix ?? ""),
			...(options.token && { token: options.token }),
		},
		clock,
		cluster: "eu-1",
	});
	open.push(connection);
	return { server, connection, clock };
}

const settle = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));

describe("ApiConnection.request()", () => {
	test("sends method, path, token and body, and gives status and parsed JSON", async () => {
		const { server, connection } = await setUp((request) => request.json(201, { got: request.body }));
		const answer = await connection.request({
			method: "PATCH",
			path: "/api/v1/pods/a?x=1",
			body: { a: "ü" },
			contentType: "application/merge-patch+json",
		});
		expect(answer).toEqual({ status: 201, body: { got: { a: "ü" } } });
		const [request] = server.requests;
		expect(request?.method).toBe("PATCH");
		expect(request?.headers[":path"]).toBe("/api/v1/pods/a?x=1");
		expect(request?.headers["content-type"]).toBe("application/merge-patch+json");
		expect(request?.headers.authorization).toBe("Bearer secret");
	});

	test("puts the server's own path before every request", async () => {
		const { server, connection } = await setUp((request) => request.json(200, {}), { prefix: "/k8s/c1/" });
		await connection.request({ method: "GET", path: "/version" });
		expect(server.requests[0]?.path).toBe("/k8s/c1/version");
	});

	test("gives refusals as answers, and what is not JSON as text", async () => {
		const { connection } = await setUp((request) => request.text(404, "404 page not found"));
		expect(await connection.request({ method: "GET", path: "/nowhere" })).toEqual({
			status: 404,
			body: "404 page not found",
		});
	});

	test("multiplexes over one session", async () => {
		const { server, connection } = await setUp((request) => request.json(200, {}));
		await Promise.all(Array.from({ length: 50 }, () => connection.request({ method: "GET", path: "/version" })));
		expect(server.requests).toHaveLength(50);
		expect(server.sessions.size).toBe(1);
	});

	test("rejects where no answer comes in time", async () => {
		const { connection, clock } = await setUp(() => undefined);
		const request = connection.request({ method: "GET", path: "/version", what: "read the version" });
		clock.skip(5_000);
		await expect(request).rejects.toThrow(
			'cannot read the version in cluster "eu-1": its API server did not answer within 5 s',
		);
	});

	test("rejects an answer that is broken off", async () => {
		const { connection } = await setUp((request) => {
			request.stream.respond({ ":status": 200 });
			request.stream.write('{"items":[]}', () => request.stream.destroy(new Error("crash")));
		});
		await expect(connection.request({ method: "GET", path: "/version" })).rejects.toThrow(AgentUnavailableError);
	});

	test("rejects an answer whose connection breaks, and connects again for the next", async () => {
		let first = true;
		const { server, connection } = await setUp((request) => {
			if (!first) return request.json(200, "again");
			first = false;
			request.stream.respond({ ":status": 200 });
			request.stream.write('{"items":[]}', () => setTimeout(() => server.breakConnections(), 5));
		});
		await expect(connection.request({ method: "GET", path: "/version" })).rejects.toThrow(AgentUnavailableError);
		await settle();
		expect(await connection.request({ method: "GET", path: "/version" })).toEqual({ status: 200, body: "again" });
	});

	test("numbers its sessions: each has its own, and stands from when the server took it until it breaks", async () => {
		const { server, connection } = await setUp((request) => request.json(200, {}));
		const ask = async () => connection.request({ method: "GET", path: "/version" });
		const now = () => ({ session: connection.session, connected: connection.connected });
		expect(now()).toEqual({ session: 1, connected: false });
		const first = ask();
		expect(now()).toEqual({ session: 1, connected: false });
		await first;
		await ask();
		expect(now()).toEqual({ session: 1, connected: true });
		server.breakConnections();
		await expect.poll(now).toEqual({ session: 2, connected: false });
		await ask();
		expect(now()).toEqual({ session: 2, connected: true });
	});

	test("rejects where nobody listens", async () => {
		const { server, connection } = await setUp(() => undefined);
		await server.close();
		await expect(connection.request({ method: "GET", path: "/version" })).rejects.toThrow(/ECONNREFUSED/);
	});

	test("rejects with the reason of its signal", async () => {
		const { connection } = await setUp(() => undefined);
		const abort = new AbortController();
		const request = connection.request({ method: "GET", path: "/version", signal: abort.signal });
		await settle();
		abort.abort(new Error("the caller went away"));
		await expect(request).rejects.toThrow("the caller went away");
	});

	test("rejects what runs, and whatever comes after it, when it is closed", async () => {
		const { connection } = await setUp(() => undefined);
		const request = connection.request({ method: "GET", path: "/version" });
		await settle();
		connection.close();
		await expect(request).rejects.toThrow("the agent is stopping");
		await expect(connection.request({ method: "GET", path: "/version" })).rejects.toThrow("the agent is stopping");
	});

	test("finds out by its pings that the server is frozen, and connects again", async () => {
		const { server, connection, clock } = await setUp((request) => request.json(200, {}));
		await connection.request({ method: "GET", path: "/version" });
		const frozen = [...server.sessions];
		expect(connection.silentMs).toBe(0);
		server.freeze();
		clock.skip(2_000); // The next ping.
		clock.skip(3_000);
		expect(connection.silentMs).toBeGreaterThanOrEqual(3_000);
		clock.skip(2_000); // No answer to the ping.
		await settle();
		server.thaw();
		expect((await connection.request({ method: "GET", path: "/version" })).status).toBe(200);
		await expect.poll(() => frozen.filter((session) => server.sessions.has(session)), patiently).toEqual([]);
	});

	test("gives up a connection that does not come about", async () => {
		const { server, connection, clock } = await setUp((request) => request.json(200, {}));
		server.freeze();
		const request = connection.request({ method: "GET", path: "/version", deadlineMs: 60_000 });
		await settle();
		clock.skip(5_000);
		await expect(request).rejects.toThrow(AgentUnavailableError);
	});

	test("moves to a new session when the server says GOAWAY, and lets the old answer finish", async () => {
		let held: ScriptedRequest | undefined;
		const { server, connection } = await setUp((request) => {
			if (request.path === "/slow") held = request;
			else request.json(200, {});
		});
		const slow = connection.request({ method: "GET", path: "/slow" });
		// Waits until the server has the request, because it refuses requests that arrive after GOAWAY.
		await expect.poll(() => held).toBeDefined();
		for (const session of server.sessions) session.goaway(constants.NGHTTP2_NO_ERROR);
		await settle();
		expect((await connection.request({ method: "GET", path: "/version" })).status).toBe(200);
		held?.json(200, "late");
		expect(await slow).toEqual({ status: 200, body: "late" });
	});

	test("reads its token again after a while, and at once after a 401", async () => {
		let token = "one";
		const answer = (request: ScriptedRequest) => request.json(request.path === "/401" ? 401 : 200, {});
		const { server, connection, clock } = await setUp(answer, { token: () => token });
		const used = async (path: string) => {
			await connection.request({ method: "GET", path });
			return server.requests.at(-1)?.headers.authorization;
		};
		expect(await used("/a")).toBe("Bearer one");
		token = "two";
		expect(await used("/a")).toBe("Bearer one");
		clock.skip(10_001);
		expect(await used("/401")).toBe("Bearer two");
		token = "three";
		expect(await used("/a")).toBe("Bearer three");
	});

	test("rejects where its token cannot be read", async () => {
		const { connection } = await setUp((request) => request.json(200, {}), {
			token: () => {
				throw new Error("ENOENT: no such file or directory, open '/token'");
			},
		});
		await expect(connection.request({ method: "GET", path: "/version" })).rejects.toThrow(AgentUnavailableError);
	});
});

describe("ApiConnection.stream()", () => {
	function collect() {
		const lines: string[] = [];
		const signs: number[] = [];
		const abort = new AbortController();
		return {
			lines,
			signs,
			abort,
			options: {
				path: "/watch",
				signal: abort.signal,
				line: (line: string) => void lines.push(line),
				signOfLife: (at: number) => void signs.push(at),
			},
		};
	}

	test("gives lines as they come, and resolves with nothing when the server ends them", async () => {
		const { connection } = await setUp((request) => {
			const watch = request.open();
			watch.write("one\ntw");
			setTimeout(() => {
				watch.write("o\n");
				watch.end();
			}, 10);
		});
		const { lines, options } = collect();
		expect(await connection.stream(options)).toBeUndefined();
		expect(lines).toEqual(["one", "two"]);
	});

	test("resolves with a refusal", async () => {
		const { connection } = await setUp((request) => request.json(410, { code: 410 }));
		const { lines, options } = collect();
		expect(await connection.stream(options)).toEqual({ status: 410, body: { code: 410 } });
		expect(lines).toEqual([]);
	});

	test("rejects where the server ends in the middle of a line", async () => {
		const { connection } = await setUp((request) => {
			const watch = request.open();
			watch.write('one\n{"type":');
			watch.end();
		});
		await expect(connection.stream(collect().options)).rejects.toThrow(AgentUnavailableError);
	});

	test("rejects with what its reader throws, and shows it nothing more", async () => {
		const { connection } = await setUp((request) => {
			const watch = request.open();
			watch.write("one\ntwo\nthr");
			for (const ms of [1, 2, 5, 10]) setTimeout(() => watch.write("ee\nfour\n"), ms);
		});
		const { lines, options } = collect();
		const line = (text: string) => {
			lines.push(text);
			if (text === "two") throw new TypeError("garbled");
		};
		await expect(connection.stream({ ...options, line })).rejects.toThrow("garbled");
		await settle();
		expect(lines).toEqual(["one", "two"]);
	});

	test("rejects a line without end, and says of which watch", async () => {
		const { connection } = await setUp((request) => {
			const watch = request.open();
			for (let mebibytes = 0; mebibytes < 18; mebibytes++) watch.write(Buffer.alloc(1024 * 1024, "x"));
		});
		const { options } = collect();
		const stream = connection.stream({ ...options, what: "watch pods" });
		await expect(stream).rejects.toBeInstanceOf(AgentUnavailableError);
		await expect(stream).rejects.toThrow('cannot watch pods in cluster "eu-1": cannot read a line of more than');
	});

	test("ends without a word when it is aborted", async () => {
		const { connection } = await setUp((request) => request.open().write("one\n"));
		const { abort, options } = collect();
		const stream = connection.stream(options);
		await settle();
		abort.abort();
		expect(await stream).toBeUndefined();
	});

	test("shows that the server is alive although the watch is silent", async () => {
		const { server, connection, clock } = await setUp((request) => void request.open());
		const { abort, signs, options } = collect();
		const stream = connection.stream(options);
		await expect.poll(() => server.requests.length, patiently).toBe(1);
		await settle();
		for (const pings of [1, 2, 3]) {
			clock.skip(2_000);
			await expect.poll(() => signs.length, patiently).toBeGreaterThanOrEqual(pings);
		}
		abort.abort();
		await stream;
	});

	test("rejects a watch of a server that froze", async () => {
		const { server, connection, clock } = await setUp((request) => void request.open());
		const stream = connection.stream(collect().options);
		stream.catch(() => undefined);
		await expect.poll(() => server.requests.length, patiently).toBe(1);
		await settle();
		server.freeze();
		clock.skip(2_000);
		clock.skip(5_000);
		await expect(stream).rejects.toThrow("no answer to a ping within 5 s");
	});

	test("rejects where even the headers do not come", async () => {
		const { server, connection, clock } = await setUp(() => undefined);
		const stream = connection.stream(collect().options);
		await expect.poll(() => server.requests.length, patiently).toBe(1);
		stream.catch(() => undefined);
		for (const seconds of [2, 2, 2, 2, 2]) {
			clock.skip(seconds * 1_000);
			await settle(); // The ping's answer.
		}
		await expect(stream).rejects.toThrow("did not answer within 10 s");
	});
});
