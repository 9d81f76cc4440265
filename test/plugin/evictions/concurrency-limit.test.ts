import { describe, expect, test } from "vitest";
import { ConcurrencyLimit } from "../../../plugin/evictions/concurrency-limit.ts";

const never = new AbortController().signal;

/** Takes so many, all of which may go at once. */
async function takeAll(limit: ConcurrencyLimit, count: number): Promise<void> {
	for (let taken = 0; taken < count; taken += 1) expect(await limit.take("eu", never)).toBe(true);
}

describe("ConcurrencyLimit", () => {
	test("asks for 112 at most, over rounds that go on and pods that are granted", async () => {
		const limit = new ConcurrencyLimit();
		expect(limit.ask("eu", 70)).toBe(70);
		expect(limit.ask("eu", 70)).toBe(42);
		expect(limit.ask("eu", 1)).toBe(0);
		expect(limit.ask("us", 1)).toBe(1);
		await takeAll(limit, 20);
		limit.answered("eu", 70);
		expect(limit.ask("eu", 60)).toBe(50);
	});

	test("makes no round for a few of many while others are on their way", async () => {
		const limit = new ConcurrencyLimit();
		await takeAll(limit, 100);
		for (let waiting = 0; waiting < 7; waiting += 1) void limit.take("eu", never);
		expect(limit.ask("eu", 30)).toBe(0);
		expect(limit.ask("eu", 5)).toBe(5);
		limit.answered("eu", 5);
		for (let given = 0; given < 7; given += 1) limit.giveBack("eu");
		expect(limit.ask("eu", 30)).toBe(12);
	});

	test("lets those that wait go in their order, and passes over whoever left", async () => {
		const limit = new ConcurrencyLimit();
		await takeAll(limit, 100);
		const order: string[] = [];
		const leaving = new AbortController();
		const waiting = (["a", "b", "c"] as const).map(async (name) => {
			if (await limit.take("eu", name === "b" ? leaving.signal : never)) order.push(name);
			else order.push(`${name} left`);
		});
		leaving.abort();
		await waiting[1];
		limit.giveBack("eu");
		await waiting[0];
		limit.giveBack("eu");
		await waiting[2];
		expect(order).toEqual(["b left", "a", "c"]);
	});

	test("has its place for the next where its turn came in the moment that it left", async () => {
		const limit = new ConcurrencyLimit();
		await takeAll(limit, 100);
		const leaving = new AbortController();
		const left = limit.take("eu", leaving.signal);
		const next = limit.take("eu", never);
		leaving.abort();
		limit.giveBack("eu");
		expect(await left).toBe(false);
		expect(await next).toBe(true);
	});

	test("tells when more may be granted", async () => {
		const limit = new ConcurrencyLimit();
		limit.ask("eu", 112);
		const freed = limit.freed(never);
		limit.answered("eu", 112);
		await expect(freed).resolves.toBeUndefined();
		const stop = new AbortController();
		const stopped = limit.freed(stop.signal);
		stop.abort();
		await expect(stopped).resolves.toBeUndefined();
		await expect(limit.freed(stop.signal)).resolves.toBeUndefined();
	});

	test("asks for nothing while it is paused, and wakes those that wait when it goes on", async () => {
		const limit = new ConcurrencyLimit();
		limit.pause();
		expect(limit.ask("eu", 5)).toBe(0);
		const leaving = new AbortController();
		const left = limit.resumed(leaving.signal);
		leaving.abort();
		await left;
		expect(limit.isPaused).toBe(true);
		const resumed = limit.resumed(never);
		limit.resume();
		await resumed;
		expect(limit.ask("eu", 5)).toBe(5);
	});
});
