import { createServer, connect } from "node:net";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { afterOwnTime } from "../../../plugin/kubernetes/after-own-time.ts";

/** Keeps this process from reading anything. */
function holdUp(ms: number): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe("afterOwnTime()", () => {
	test("calls back once after the time", async () => {
		const startedAt = performance.now();
		await new Promise<void>((resolve) => void afterOwnTime(250, resolve));
		expect(performance.now() - startedAt).toBeGreaterThan(230);
	});

	test("does not call back after it was cancelled", async () => {
		let calls = 0;
		afterOwnTime(50, () => (calls += 1))();
		await new Promise((resolve) => setTimeout(resolve, 120));
		expect(calls).toBe(0);
	});

	test("lets what has arrived be read first where this process was held up", async () => {
		const server = createServer((socket) => socket.end("answer"));
		onTestFinished(() => void server.close());
		await once(server.listen(0, "127.0.0.1"), "listening");
		const address = server.address();
		const seen: string[] = [];
		const socket = connect({ host: "127.0.0.1", port: typeof address === "object" ? (address?.port ?? 0) : 0 });
		socket.once("data", () => seen.push("answer"));
		const late = new Promise<void>((resolve) => {
			afterOwnTime(400, () => {
				seen.push("late");
				resolve();
			});
		});
		holdUp(600);
		await late;
		expect(seen).toEqual(["answer", "late"]);
	});
});
