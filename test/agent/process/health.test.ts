import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { startHealthServer } from "../../../agent/process/health.ts";
import { createMetrics } from "../../../agent/process/metrics.ts";
import { Readiness } from "../../../agent/process/readiness.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(readiness = new Readiness()): Promise<(path: string, method?: string) => Promise<Response>> {
	const metrics = createMetrics({ version: "0.1.0" });
	metrics.readFrom({
		reservations: () => 7,
		waiting: () => 2,
		pods: () => 10,
		members: () => ({ listed: 2, forgotten: 1, missing: 0 }),
	});
	const address = { hosts: ["127.0.0.1"], port: 0 };
	const server = await startHealthServer({ address, readiness, metrics: metrics.registry, clock: systemClock });
	cleanups.push(() => server.close());
	return (path, method = "GET") => fetch(`http://127.0.0.1:${server.port}${path}`, { method });
}

describe("the health server", () => {
	test("is alive from the start", async () => {
		const get = await serve();
		expect((await get("/healthz")).status).toBe(200);
	});

	test("says why the agent is not ready, as long as it is not", async () => {
		const readiness = new Readiness();
		let reason: string | undefined = "The first lists are not done";
		readiness.add(() => reason);
		readiness.add(() => undefined);
		const get = await serve(readiness);
		const before = await get("/readyz");
		expect([before.status, await before.text()]).toEqual([503, "The first lists are not done\n"]);
		reason = undefined;
		expect((await get("/readyz?verbose")).status).toBe(200);
		reason = "The agent is shutting down";
		expect((await get("/readyz")).status).toBe(503);
	});

	test("has metrics, the agent's and the process's", async () => {
		const get = await serve();
		const response = await get("/metrics");
		const text = await response.text();
		expect(response.headers.get("content-type")).toContain("text/plain");
		expect(text).toContain("xpdb_reservations 7");
		expect(text).toContain("xpdb_waiting_callers 2");
		expect(text).toContain('xpdb_members{state="forgotten"} 1');
		expect(text).toContain('xpdb_members{state="missing"} 0');
		expect(text).toContain("process_resident_memory_bytes");
	});

	test("has nothing else", async () => {
		const get = await serve();
		expect((await get("/")).status).toBe(404);
		expect((await get("/healthz", "POST")).status).toBe(405);
	});

	test("says which address is taken", async () => {
		const options = {
			readiness: new Readiness(),
			metrics: { contentType: "", metrics: async () => "" },
			clock: systemClock,
		};
		const server = await startHealthServer({ ...options, address: { hosts: ["127.0.0.1"], port: 0 } });
		cleanups.push(() => server.close());
		const again = startHealthServer({ ...options, address: { hosts: ["127.0.0.1"], port: server.port } });
		await expect(again).rejects.toThrow(`cannot listen on 127.0.0.1:${server.port}: `);
	});

	test("answers the first request of a connection, reads no other, and ends it", async () => {
		const { port, collections } = await serveBare();
		const request = "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n";
		const answer = await exchange(port, request.repeat(500));
		expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(1);
		expect(answer).toContain("connection: close");
		expect(collections()).toBe(1);
	});

	test("collects once for all who scrape at the same time", async () => {
		const { port, collections } = await serveBare();
		const request = "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n";
		const answers = await Promise.all(Array.from({ length: 30 }, () => exchange(port, request)));
		for (const answer of answers) expect(answer.endsWith("\r\n\r\nsome 1\n")).toBe(true);
		expect(collections()).toBe(1);
	});

	test("takes a head of 8 KB and no more, and no other protocol", async () => {
		const { port } = await serveBare();
		expect(await exchange(port, `GET /healthz HTTP/1.1\r\nx: ${"y".repeat(20_000)}`)).toMatch(/^HTTP\/1\.1 431 /);
		expect(await exchange(port, "\x16\x03\x01\x02\x00\x01")).toMatch(/^HTTP\/1\.1 400 /);
		expect(await exchange(port, "HEAD /healthz HTTP/1.0\r\n\r\n")).toMatch(/content-length: 3\r\n[^]*\r\n\r\n$/);
	});
});

async function serveBare(): Promise<{ readonly port: number; readonly collections: () => number }> {
	let collections = 0;
	const server = await startHealthServer({
		address: { hosts: ["127.0.0.1"], port: 0 },
		readiness: new Readiness(),
		metrics: {
			contentType: "text/plain",
			async metrics() {
				collections++;
				return "some 1\n";
			},
		},
		clock: { now: () => 0, after: (ms, callback) => systemClock.after(ms, callback) },
	});
	cleanups.push(() => server.close());
	return { port: server.port, collections: () => collections };
}

function exchange(port: number, request: string): Promise<string> {
	return new Promise((resolve) => {
		let answer = "";
		const socket = connect(port, "127.0.0.1", () => socket.write(request, "latin1"));
		socket.setEncoding("latin1").on("data", (text: string) => {
			answer += text;
		});
		socket.on("error", () => undefined);
		socket.on("close", () => resolve(answer));
	});
}
