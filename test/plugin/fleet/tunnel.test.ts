import { once } from "node:events";
import { existsSync, rmSync, statSync } from "node:fs";
import {
	type AddressInfo,
	connect,
	createServer as createTcpServer,
	type Socket,
	type Server as TcpServer,
} from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client, credentials } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createTunnel, namedPipe, type Tunnel } from "../../../plugin/fleet/tunnel.ts";
import type { KubernetesClient } from "../../../plugin/kubernetes/kubernetes-client.ts";
import { dialPod, hangUp } from "../../../plugin/kubernetes/port-forward.ts";
import { type ForwardingServer, startForwardingServer } from "../../support/forwarding-server.ts";

const closers: (() => void)[] = [];
afterEach(() => {
	for (const close of closers.splice(0).toReversed()) close();
});

async function startEcho(): Promise<number> {
	const server = createTcpServer((socket) => {
		socket.on("error", () => socket.destroy());
		socket.write("hello ");
		socket.pipe(socket);
	});
	closers.push(() => server.close());
	return listenOn(server);
}

async function listenOn(server: TcpServer): Promise<number> {
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return (server.address() as AddressInfo).port;
}

async function startApiServer(target: number): Promise<ForwardingServer> {
	const api = await startForwardingServer(target);
	closers.push(() => api[Symbol.dispose]());
	return api;
}

const pod = { namespace: "xpdb-system", name: "agent-1", port: 8443 };

async function openTunnel(client: KubernetesClient): Promise<Tunnel> {
	const tunnel = await createTunnel(async (socket) => {
		void (await dialPod(client, pod)).join(socket);
	});
	closers.push(() => tunnel.close());
	return tunnel;
}

const pathOf = ({ address }: Tunnel): string => address.slice("unix:".length);

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
		// On other systems, such a name is a socket in the working folder, so everything can be tested except Windows itself.
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

describe("dialPod()", () => {
	async function acceptOne(): Promise<{ readonly near: Socket; readonly far: Socket }> {
		const server = createTcpServer();
		const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
		const near = connect(await listenOn(server), "127.0.0.1");
		const far = await accepted;
		closers.push(() => near.destroy());
		return { near, far };
	}

	test("rejects with what the API server says", async () => {
		const api = await startApiServer(await startEcho());
		api.refusal = {
			code: 404,
			body: JSON.stringify({ kind: "Status", message: 'pods "agent-1" not found', reason: "NotFound" }),
		};
		await expect(dialPod(api.client, pod)).rejects.toMatchObject({
			name: "ApiError",
			code: 404,
			message: 'pods "agent-1" not found',
		});
	});

	test("says why the far side ended", async () => {
		const api = await startApiServer(await startEcho());
		api.podError = "error forwarding port 8443: connection refused";
		const { far } = await acceptOne();
		const connection = await dialPod(api.client, pod);
		expect(await connection.join(far)).toBe("error forwarding port 8443: connection refused");
		expect(far.destroyed).toBe(true);
	});

	test("keeps what the far side says until somebody is there to hear it", async () => {
		const api = await startApiServer(await startEcho());
		const connection = await dialPod(api.client, pod);
		// The greeting arrives meanwhile.
		await delay(50);
		const { near, far } = await acceptOne();
		void connection.join(far);
		const [first] = (await once(near, "data")) as [Buffer];
		expect(first.toString()).toBe("hello ");
	});

	test("ends the socket that comes when the far side is gone", async () => {
		const api = await startApiServer(await startEcho());
		const connection = await dialPod(api.client, pod);
		for (const socket of api.sockets) socket.terminate();
		await delay(50);
		const { far } = await acceptOne();
		await connection.join(far);
		expect(far.destroyed).toBe(true);
	});

	test("ends the far side where the socket is gone before it is there", async () => {
		const api = await startApiServer(await startEcho());
		const { far } = await acceptOne();
		far.destroy();
		await (await dialPod(api.client, pod)).join(far);
		await expect.poll(() => [...api.sockets].every((socket) => socket.readyState === WebSocket.CLOSED)).toBe(true);
	});
});

describe("hangUp()", () => {
	test("ends a connection that nobody has used, also one that is still being made, and minds none that failed", async () => {
		const api = await startApiServer(await startEcho());
		hangUp(dialPod(api.client, pod));
		await expect.poll(() => [...api.sockets].map((socket) => socket.readyState)).toEqual([WebSocket.CLOSED]);
		hangUp(Promise.reject(new Error("refused")));
	});
});
