// Tests requests that are sent only if their guard still allows it when they are written, whatever they had to wait for.
import { once } from "node:events";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Authority, createAuthority, type KeyPair } from "../../../demo/machine/certificates.ts";
import { createApiDialer } from "../../../plugin/kubernetes/api-dialer.ts";
import { NotSentError } from "../../../plugin/kubernetes/api-error.ts";
import type { Connection } from "../../../plugin/kubernetes/connection.ts";
import { base64 } from "../../../plugin/kubernetes/plain-login.ts";

let ours: Authority;
let pair: KeyPair;
beforeAll(async () => {
	ours = await createAuthority("ours");
	pair = await ours.issue({ commonName: "server", ipAddresses: ["127.0.0.1"], dnsNames: ["eu"], usages: ["server"] });
});

async function listen(server: Server): Promise<number> {
	const sockets = new Set<Socket>();
	server.on("connection", (socket: Socket) => sockets.add(socket));
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		for (const socket of sockets) socket.destroy();
		server.close();
	});
	const address = server.address();
	if (typeof address !== "object" || !address) throw new Error("no address");
	return (address satisfies AddressInfo).port;
}

interface World {
	readonly requests: string[];
	readonly connections: () => number;
	readonly dialer: ReturnType<typeof createApiDialer>;
}

/** Starts an API server behind TLS. Connecting takes `connectMs`. */
async function start({
	connectMs = 0,
	some = {},
	isProxied = false,
}: {
	readonly connectMs?: number;
	readonly some?: Partial<Connection>;
	readonly isProxied?: boolean;
} = {}): Promise<World> {
	const requests: string[] = [];
	let connections = 0;
	const port = await listen(
		createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
			let body = "";
			request.on("data", (chunk) => (body += String(chunk)));
			request.on("end", () => {
				requests.push(`${request.method} ${request.url} ${body}`);
				response.end("{}");
			});
		}),
	);
	const slow = await listen(
		createTcpServer((socket) => {
			connections += 1;
			socket.on("error", () => undefined);
			setTimeout(() => {
				const behind = connect(port, "127.0.0.1");
				behind.on("error", () => socket.destroy());
				socket.on("close", () => behind.destroy());
				socket.pipe(behind).pipe(socket);
			}, connectMs);
		}),
	);
	const proxy = createPlainServer();
	proxy.on("connect", (_request, socket: Socket) => {
		const behind = connect(slow, "127.0.0.1", () => {
			socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
			socket.pipe(behind).pipe(socket);
		});
		socket.on("error", () => behind.destroy());
	});
	const url = `https://127.0.0.1:${slow}`;
	const dialer = createApiDialer({
		context: "eu",
		namespace: "shop",
		server: url,
		cluster: { name: "cluster", server: url, skipTLSVerify: false, caData: base64(ours.certificate) },
		user: { name: "user" },
		exec: undefined,
		headers: {},
		httpProxy: isProxied ? `http://127.0.0.1:${await listen(proxy)}` : undefined,
		requestTimeoutMs: 0,
		...some,
	});
	onTestFinished(() => dialer.close());
	return { requests, connections: () => connections, dialer };
}

const post = { method: "POST", path: "/pods/db-0/eviction", headers: { "content-length": 2 }, body: "{}" };
const sent = "POST /pods/db-0/eviction {}";

function forMs(ms: number): () => boolean {
	const until = performance.now() + ms;
	return () => performance.now() <= until;
}

describe("a request with a guard", () => {
	test("is sent while that says yes", async () => {
		const { dialer, requests } = await start();
		expect(await dialer.exchange({ ...post, guard: () => true })).toMatchObject({ code: 200 });
		expect(await dialer.exchange({ ...post, guard: () => true })).toMatchObject({ code: 200 });
		expect(requests).toEqual([sent, sent]);
	});

	test("is not sent where a login took too long, also without a new connection", async () => {
		const credential = {
			apiVersion: "client.authentication.k8s.io/v1",
			kind: "ExecCredential",
			status: { token: "t" },
		};
		const exec = {
			command: "sh",
			args: ["-c", `sleep 0.5; echo '${JSON.stringify(credential)}'`],
			env: {},
			apiVersion: credential.apiVersion,
			interactiveMode: "Never",
			installHint: "",
			cluster: undefined,
		};
		const { dialer, requests } = await start({ some: { exec } });
		await expect(dialer.exchange({ ...post, guard: forMs(300) })).rejects.toBeInstanceOf(NotSentError);
		expect(requests.filter((request) => request.startsWith("POST"))).toEqual([]);
	});

	test.each([
		{ name: "", isProxied: false },
		{ name: " through a proxy", isProxied: true },
	])("is asked when the connection$name stands, and finds one when it is tried again", async ({ isProxied }) => {
		const { dialer, requests, connections } = await start({ connectMs: 700, isProxied });
		await expect(dialer.exchange({ ...post, guard: forMs(400) })).rejects.toBeInstanceOf(NotSentError);
		expect(requests.filter((request) => request.startsWith("POST"))).toEqual([]);
		const before = connections();
		let asked = 0;
		expect(await dialer.exchange({ ...post, guard: () => (asked += 1) > 0 })).toMatchObject({ code: 200 });
		expect(requests.at(-1)).toBe(sent);
		expect(connections()).toBe(before);
		expect(asked).toBe(1);
	});

	test("is not sent where its turn among the connections came too late", async () => {
		const { dialer, requests } = await start({ connectMs: 300 });
		let asked = 0;
		const guard = (): boolean => {
			asked += 1;
			return asked <= 128;
		};
		// One request more than there are connections.
		const all = Array.from({ length: 129 }, () => dialer.exchange({ ...post, guard }));
		const results = await Promise.allSettled(all);
		expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
		expect(requests.filter((request) => request === sent)).toHaveLength(128);
	});
});
