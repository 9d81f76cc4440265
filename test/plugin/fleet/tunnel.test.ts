import { existsSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import {
	type AddressInfo,
	connect,
	createServer as createTcpServer,
	type Socket,
	type Server as TcpServer,
} from "node:net";
import { dirname } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createTunnel, namedPipe, type Tunnel } from "../../../plugin/fleet/tunnel.ts";
import type { KubernetesClient } from "../../../plugin/kubernetes/kubernetes-client.ts";
import { forwardToPod } from "../../../plugin/kubernetes/port-forward.ts";
import { newClient } from "../../support/build-context.ts";
import { clientOfServer } from "../../support/client-of-server.ts";

const closers: (() => void)[] = [];
afterEach(() => {
	for (const close of closers.splice(0).toReversed()) close();
});

async function listen(server: Server | TcpServer): Promise<number> {
	await new Promise<void>((resolve) => {
		server.listen(0, "127.0.0.1", resolve);
	});
	closers.push(() => server.close());
	return (server.address() as AddressInfo).port;
}

interface ApiServer {
	readonly client: KubernetesClient;
	readonly paths: string[];
	/** Status and body in place of the next upgrade. */
	refusal: { readonly code: number; readonly body: string } | undefined;
	/** Text on the error channel in place of data. */
	podError: string | undefined;
	readonly sockets: Set<WebSocket>;
}

/** The part of an API server that forwards ports: v4.channel.k8s.io to a real TCP server. */
async function startApiServer(target: number): Promise<ApiServer> {
	const http = createServer();
	const upgrader = new WebSocketServer({ noServer: true, handleProtocols: () => "v4.channel.k8s.io" });
	const api: ApiServer = {
		client: newClient({}),
		paths: [],
		refusal: undefined,
		podError: undefined,
		sockets: new Set(),
	};
	http.on("upgrade", (request, socket: Socket, head) => {
		api.paths.push(request.url ?? "");
		if (api.refusal) {
			const { code, body } = api.refusal;
			socket.end(`HTTP/1.1 ${code} No\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
			return;
		}
		upgrader.handleUpgrade(request, socket, head, (ws) => {
			api.sockets.add(ws);
			// The port's number comes first on both channels, together with whatever the pod says at once.
			ws.send(Buffer.from([0, 0, 0]));
			ws.send(Buffer.from([1, 0, 0]));
			if (api.podError !== undefined) {
				ws.send(Buffer.concat([Buffer.of(1), Buffer.from(api.podError)]));
				return;
			}
			const pod = connect(target, "127.0.0.1");
			pod.on("data", (chunk) => ws.send(Buffer.concat([Buffer.of(0), chunk])));
			pod.on("close", () => ws.close());
			ws.on("message", (message: Buffer) => pod.write(message.subarray(1)));
			ws.on("close", () => pod.destroy());
		});
	});
	const port = await listen(http);
	closers.push(() => http.closeAllConnections());
	const client = clientOfServer(port);
	closers.push(() => client.close());
	return Object.assign(api, { client });
}

/** A server that greets, then echoes. */
async function startEcho(): Promise<number> {
	const server = createTcpServer((socket) => {
		socket.on("error", () => socket.destroy());
		socket.write("hello ");
		socket.pipe(socket);
	});
	return listen(server);
}

const pod = { namespace: "xpdb-system", name: "agent-1", port: 8443 };

async function openTunnel(client: KubernetesClient): Promise<Tunnel> {
	const tunnel = await createTunnel(async (socket) => {
		await forwardToPod(client, pod, socket);
	});
	closers.push(() => tunnel.close());
	return tunnel;
}

const pathOf = ({ address }: Tunnel): string => address.slice("unix:".length);

/** Sends, and reads until `bytes` have come or the connection is over. */
async function exchange(tunnel: Tunnel, text: string, bytes: number): Promise<string> {
	return new Promise((resolve) => {
		const socket = connect(pathOf(tunnel));
		let received = "";
		const done = (): void => {
			socket.destroy();
			resolve(received);
		};
		socket.setEncoding("utf8").on("data", (chunk: string) => {
			received += chunk;
			if (received.length >= bytes) done();
		});
		socket.on("error", done);
		socket.on("close", done);
		socket.write(text);
	});
}

describe("a tunnel", () => {
	test("carries many connections side by side", async () => {
		const api = await startApiServer(await startEcho());
		const tunnel = await openTunnel(api.client);
		const answers = await Promise.all([1, 2, 3, 4, 5].map((number) => exchange(tunnel, `call ${number}`, 12)));
		expect(answers.toSorted()).toEqual([1, 2, 3, 4, 5].map((number) => `hello call ${number}`));
		expect(api.paths[0]).toBe("/api/v1/namespaces/xpdb-system/pods/agent-1/portforward?ports=8443");
	});

	test("carries more than fits into any buffer, in both directions", async () => {
		const api = await startApiServer(await startEcho());
		const tunnel = await openTunnel(api.client);
		const text = "0123456789abcdef".repeat(512 * 1024);
		const answer = await exchange(tunnel, text, text.length + 6);
		expect(answer.length).toBe(text.length + 6);
		expect(answer === `hello ${text}`).toBe(true);
	});

	test("can be opened by this user only, and leaves nothing behind", async () => {
		const api = await startApiServer(await startEcho());
		const tunnel = await openTunnel(api.client);
		const folder = dirname(pathOf(tunnel));
		expect(statSync(folder).mode & 0o777).toBe(0o700);
		tunnel.close();
		expect(existsSync(folder)).toBe(false);
	});

	test("of many clusters look after their folders together: one by one, Node would warn of them", async () => {
		const before = process.listenerCount("exit");
		const tunnels = await Promise.all(Array.from({ length: 12 }, () => createTunnel(async () => undefined)));
		expect(process.listenerCount("exit")).toBe(before + 1);
		for (const tunnel of tunnels) tunnel.close();
		expect(process.listenerCount("exit")).toBe(before);
		expect(tunnels.filter(({ address }) => existsSync(dirname(address.replace("unix:", ""))))).toEqual([]);
	});

	test("is on Windows a pipe with a name that nobody guesses, and that a gRPC client takes as it is", async () => {
		expect(namedPipe().path).toMatch(/^\\\\\.\\pipe\\kubectl-xpdb-[\da-f]{32}$/);
		expect(namedPipe().path).not.toBe(namedPipe().path);
		// Elsewhere such a name is one of a socket in the working folder, so that all but Windows itself can be tried.
		const end = namedPipe();
		const remove = () => rmSync(end.path, { force: true });
		const connected = Promise.withResolvers<void>();
		const tunnel = await createTunnel(
			async () => connected.resolve(),
			() => ({ ...end, remove }),
		);
		closers.push(() => tunnel.close());
		const client = new Client(tunnel.address, credentials.createInsecure());
		closers.push(() => client.close());
		client.getChannel().getConnectivityState(true);
		await connected.promise;
		expect(tunnel.address).toBe(`unix:${end.path}`);
	});

	test("closes the connection where the API server refuses, and takes the next one", async () => {
		const api = await startApiServer(await startEcho());
		const tunnel = await openTunnel(api.client);
		api.refusal = { code: 403, body: JSON.stringify({ kind: "Status", message: "forbidden", reason: "Forbidden" }) };
		expect(await exchange(tunnel, "x", 7)).toBe("");
		api.refusal = undefined;
		expect(await exchange(tunnel, "x", 7)).toBe("hello x");
	});

	test("closes the connection where the pod's port is closed", async () => {
		const api = await startApiServer(await startEcho());
		api.podError = "connection refused";
		const tunnel = await openTunnel(api.client);
		expect(await exchange(tunnel, "x", 7)).toBe("");
	});

	test("ends all connections on disconnect() and makes new ones", async () => {
		const api = await startApiServer(await startEcho());
		const tunnel = await openTunnel(api.client);
		const cut = exchange(tunnel, "x", 1_000);
		await expect.poll(() => api.sockets.size).toBe(1);
		tunnel.disconnect();
		expect("hello x".startsWith(await cut)).toBe(true);
		expect(await exchange(tunnel, "y", 7)).toBe("hello y");
	});
});

describe("forwardToPod()", () => {
	async function acceptOne(): Promise<{ readonly near: Socket; readonly far: Socket }> {
		const server = createTcpServer();
		const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
		const near = connect(await listen(server), "127.0.0.1");
		const far = await accepted;
		closers.push(() => near.destroy());
		return { near, far };
	}

	test("rejects with what the API server says, and leaves the socket to the next pod", async () => {
		const api = await startApiServer(await startEcho());
		const { far } = await acceptOne();
		api.refusal = {
			code: 404,
			body: JSON.stringify({ kind: "Status", message: 'pods "agent-1" not found', reason: "NotFound" }),
		};
		await expect(forwardToPod(api.client, pod, far)).rejects.toMatchObject({
			name: "ApiError",
			code: 404,
			message: 'pods "agent-1" not found',
		});
		expect(far.destroyed).toBe(false);
	});

	test("says why the far side ended", async () => {
		const api = await startApiServer(await startEcho());
		api.podError = "error forwarding port 8443: connection refused";
		const { far } = await acceptOne();
		const { ended } = await forwardToPod(api.client, pod, far);
		expect(await ended).toBe("error forwarding port 8443: connection refused");
		expect(far.destroyed).toBe(true);
	});
});
