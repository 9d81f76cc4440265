import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { type ApiDialer, createApiDialer, type DialerOptions } from "../../../plugin/kubernetes/api-dialer.ts";
import { SilentServerError } from "../../../plugin/kubernetes/api-error.ts";
import type { Connection } from "../../../plugin/kubernetes/connection.ts";
import { playTwoAddresses, twoAddresses } from "../../support/two-addresses.ts";

async function listen(server: Server): Promise<string> {
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const address = server.address();
	if (typeof address !== "object" || !address) throw new Error("no address");
	return `http://127.0.0.1:${address.port}`;
}

async function dial(
	handle: RequestListener,
	some: Partial<Connection> = {},
	options?: DialerOptions,
): Promise<ApiDialer> {
	return dialTo(await listen(createServer(handle)), some, options);
}

function dialTo(url: string, some: Partial<Connection> = {}, options: DialerOptions = {}): ApiDialer {
	const connection = {
		context: "eu",
		namespace: "shop",
		server: url,
		cluster: { name: "cluster", server: url, skipTLSVerify: true },
		user: { name: "user" },
		exec: undefined,
		headers: {},
		httpProxy: undefined,
		requestTimeoutMs: 0,
		...some,
	};
	const dialer = createApiDialer(connection, options);
	onTestFinished(() => dialer.close());
	return dialer;
}

/** Starts a server that accepts connections and never answers, like a frozen process. */
async function hungServer(): Promise<string> {
	const sockets: Socket[] = [];
	const server = createTcpServer((socket) => void sockets.push(socket.on("error", () => undefined)));
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		for (const socket of sockets) socket.destroy();
		server.close();
	});
	const address = server.address();
	if (typeof address !== "object" || !address) throw new Error("no address");
	return `https://127.0.0.1:${address.port}`;
}

const get = { method: "GET", path: "/x", headers: {} };

test("a login may take longer than the request that it is for", async () => {
	const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "t" } };
	const exec = {
		command: "sh",
		args: ["-c", `sleep 0.7; echo '${JSON.stringify(credential)}'`],
		env: {},
		apiVersion: credential.apiVersion,
		interactiveMode: "Never",
		installHint: "",
		cluster: undefined,
	};
	const dialer = await dial((request, response) => void response.end(request.headers.authorization), {
		exec,
		requestTimeoutMs: 500,
	});
	expect(await dialer.exchange(get)).toMatchObject({ code: 200, body: "Bearer t" });
});

test("exchange() gives up where the answer begins and does not end", async () => {
	const dialer = await dial((_, response) => void response.write("half"), { requestTimeoutMs: 50 });
	await expect(dialer.exchange(get)).rejects.toThrow("no answer within 50ms");
});

test("exchange() without --request-timeout, or with 0, gives up after 65 s", async () => {
	const { promise: asked, resolve: begin } = Promise.withResolvers<void>();
	const dialer = await dial(() => begin());
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	onTestFinished(() => void vi.useRealTimers());
	const answer = dialer.exchange(get);
	await asked;
	vi.advanceTimersByTime(65_000);
	await expect(answer).rejects.toThrow("no answer within 1m5s");
});

test("a server that never answers TLS's handshake is given up long before an answer would be", async () => {
	const told: number[] = [];
	const options = { connectTimeoutMs: 80, silentAfterMs: 20, onSilence: (ms: number) => void told.push(ms) };
	const dialer = dialTo(await hungServer(), {}, options);
	const asked = [dialer.exchange(get), dialer.exchange(get)];
	await expect(Promise.all(asked)).rejects.toBeInstanceOf(SilentServerError);
	await expect(asked[0]).rejects.toThrow("no connection within 80ms");
	// Reported once for all waiting requests.
	expect(told).toEqual([20]);
});

test("each address of a server's name has a second, because a slow line needs more than Node's quarter", async () => {
	const timeouts: unknown[] = [];
	playTwoAddresses((options) => timeouts.push(options["autoSelectFamilyAttemptTimeout"]));
	for (const scheme of ["http", "https"]) {
		const asked = dialTo(`${scheme}://${twoAddresses}:1`).exchange(get);
		await expect(asked).rejects.toMatchObject({ code: "ECONNREFUSED" });
	}
	expect(timeouts).toEqual([1_000, 1_000]);
});

test("a proxy that never connects is given up too", async () => {
	const proxy = (await hungServer()).replace("https:", "http:");
	const dialer = dialTo("https://127.0.0.1:1", { httpProxy: proxy }, { connectTimeoutMs: 50 });
	await expect(dialer.exchange(get)).rejects.toThrow("no connection within 50ms");
});

test("an answer may take longer than the connection, and silence is told anew after it", async () => {
	const told: number[] = [];
	const options = { connectTimeoutMs: 30, silentAfterMs: 10, onSilence: (ms: number) => void told.push(ms) };
	const dialer = await dial((_, response) => void setTimeout(() => response.end("late"), 90), {}, options);
	expect(await dialer.exchange(get)).toMatchObject({ body: "late" });
	await dialer.exchange(get);
	expect(told).toEqual([10, 10]);
});

test("a request that waits for a free connection is not taken for one without a server", async () => {
	const dialer = await dial(
		(_, response) => void setTimeout(() => response.end("late"), 900),
		{},
		{ connectTimeoutMs: 600 },
	);
	// At most 128 connections are open, so the last two requests wait.
	const answers = await Promise.all(Array.from({ length: 130 }, () => dialer.exchange(get)));
	expect(answers.every(({ body }) => body === "late")).toBe(true);
});

test("open() gives up where no answer begins", async () => {
	const dialer = await dial(() => undefined);
	await expect(dialer.open(get, 50)).rejects.toThrow("no answer within 50ms");
});

test("open() gives the answer out as it comes, until whoever asked has enough", async () => {
	const dialer = await dial((_, response) => void response.write("first"));
	const enough = new AbortController();
	const response = await dialer.open({ ...get, signal: enough.signal }, 10_000);
	const [chunk] = await once(response, "data");
	expect(String(chunk)).toBe("first");
	const ended = once(response, "error");
	enough.abort();
	expect(await ended).toEqual([expect.objectContaining({ code: "ECONNRESET" })]);
});

test("nothing is sent where whoever asked has enough already", async () => {
	let requests = 0;
	const dialer = await dial(() => void (requests += 1));
	await expect(dialer.exchange({ ...get, signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
	expect(requests).toBe(0);
});

test("calls and WebSockets go through the proxy of the environment", async () => {
	const asked: string[] = [];
	const proxy = createServer((request, response) => {
		asked.push(`${request.method} ${request.url}`);
		response.end("from the proxy");
	});
	proxy.on("connect", (request, socket) => {
		asked.push(`CONNECT ${request.url}`);
		socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
	});
	const httpProxy = await listen(proxy);
	const dialer = await dial(() => undefined, { server: "http://eu.example:8080", httpProxy });
	expect(await dialer.exchange(get)).toMatchObject({ code: 200, body: "from the proxy" });
	const secure = await dial(() => undefined, { server: "https://eu.example:6443", httpProxy });
	await expect(secure.exchange(get)).rejects.toThrow("403");
	const ws = await secure.webSocket("/x", "v4.channel.k8s.io");
	const [error] = await once(ws, "error");
	expect(String(error)).toContain("403");
	expect(asked).toEqual(["GET http://eu.example:8080/x", "CONNECT eu.example:6443", "CONNECT eu.example:6443"]);
});
