import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { codeOf } from "../../demo/machine/setup-error.ts";
import type { LinkCondition, LinkProxy } from "./link-proxy.ts";
import { startLinkProxy } from "./link-proxy.ts";

const cleanup: (() => unknown)[] = [];

afterEach(async () => {
	for (const end of cleanup.splice(0).toReversed()) await end();
});

function watch(socket: Socket) {
	let text = "";
	let over: string | undefined;
	const listeners = new Set<() => void>();
	const changed = () => listeners.forEach((listener) => listener());
	socket.setEncoding("utf8").on("data", (chunk: string) => {
		text += chunk;
		changed();
	});
	socket.on("error", (error) => (over = codeOf(error)));
	socket.on("close", () => {
		over ??= "closed";
		changed();
	});
	const until = (holds: () => boolean) =>
		new Promise<void>((resolve) => {
			const look = () => {
				if (!holds()) return;
				listeners.delete(look);
				resolve();
			};
			listeners.add(look);
			look();
		});
	return {
		socket,
		text: () => text,
		over: () => over,
		got: (expected: string) => until(() => text === expected),
		ended: () => until(() => over !== undefined),
	};
}

async function listening(): Promise<{ server: Server; port: number }> {
	const server = createServer({ allowHalfOpen: true });
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	cleanup.push(() => new Promise((resolve) => server.close(resolve)));
	return { server, port: (server.address() as AddressInfo).port };
}

async function freePort(): Promise<number> {
	const { server, port } = await listening();
	await new Promise((resolve) => server.close(resolve));
	return port;
}

async function linkTo(port: number): Promise<LinkProxy> {
	const near = { host: "127.0.0.1", port: await freePort() };
	const link = await startLinkProxy({ near, far: { host: "127.0.0.1", port } });
	cleanup.push(() => link.close());
	return link;
}

async function connected(condition: LinkCondition = {}) {
	const { server, port } = await listening();
	const link = await linkTo(port);
	link.set(condition);
	const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
	const client = watch(connect({ ...link.near, allowHalfOpen: true }));
	const far = watch(await accepted);
	cleanup.push(() => [client, far].forEach(({ socket }) => socket.destroy()));
	return { link, client, far };
}

describe("startLinkProxy()", () => {
	test("carries bytes both ways, and the end of one way alone", async () => {
		const { client, far } = await connected();
		client.socket.end("question");
		await far.got("question");
		far.socket.end("answer");
		await client.got("answer");
		await client.ended();
		expect(client.over()).toBe("closed");
	});

	test("brings everything later by its delay, a connection by a round trip more", async () => {
		// On a slow machine, the connection's round trip can pass before the next lines run.
		const startedAt = performance.now();
		const { client, far } = await connected({ delayMs: 30 });
		client.socket.write("question");
		await far.got("question");
		far.socket.write("answer");
		await client.got("answer");
		expect(performance.now() - startedAt).toBeGreaterThanOrEqual(4 * 30 - 5);
	});

	for (const way of ["there", "back"] as const) {
		test(`a black hole ${way} holds what is sent this way, and nothing is lost when it is gone`, async () => {
			const { link, client, far } = await connected();
			const [held, free] = way === "there" ? [client, far] : [far, client];
			link.set({ blackHole: way });
			held.socket.write("one");
			free.socket.write("passes");
			await held.got("passes");
			held.socket.end(" two");
			expect(free.text()).toBe("");
			link.set({});
			await free.got("one two");
		});
	}

	test("drips", async () => {
		const { client, far } = await connected({ bytesPerSecond: 40 });
		const pieces: string[] = [];
		far.socket.on("data", (piece: string) => pieces.push(piece));
		client.socket.write("abcdef");
		await far.got("abcdef");
		expect(pieces).toEqual(["ab", "cd", "ef"]);
	});

	test("resets what is open, and goes on with new connections", async () => {
		const { link, client, far } = await connected();
		client.socket.write("x");
		await far.got("x");
		link.reset();
		await Promise.all([client.ended(), far.ended()]);
		expect([client.over(), far.over()]).toEqual(["ECONNRESET", "ECONNRESET"]);
		const next = watch(connect(link.near));
		cleanup.push(() => next.socket.destroy());
		await new Promise((resolve) => next.socket.once("connect", resolve));
		expect(next.over()).toBeUndefined();
	});

	test("a cut resets old and new connections until it is mended", async () => {
		const { link, client } = await connected();
		link.set({ cut: true });
		await client.ended();
		const refused = watch(connect(link.near));
		await refused.ended();
		expect(refused.over()).toBe("ECONNRESET");
	});

	test("goes elsewhere with new connections where it is told to", async () => {
		const { link } = await connected();
		const { server, port } = await listening();
		const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
		link.set({ via: { host: "127.0.0.1", port } });
		const client = connect(link.near);
		const far = await accepted;
		cleanup.push(() => [client, far].forEach((socket) => socket.destroy()));
		far.write("from elsewhere");
		const seen = watch(client);
		await seen.got("from elsewhere");
		expect(seen.over()).toBeUndefined();
	});

	test("a far end that does not listen is a reset", async () => {
		const link = await linkTo(await freePort());
		const client = watch(connect(link.near));
		await client.ended();
		expect(client.over()).toBe("ECONNRESET");
	});
});
