import { describe, expect, test } from "vitest";
import { EvictionSlots } from "../../../plugin/evictions/concurrency-limit.ts";

const never = new AbortController().signal;

/** Takes so many; the promises of those that wait. */
async function takeAll(slots: EvictionSlots, count: number): Promise<void> {
	for (let taken = 0; taken < count; taken += 1) expect(await slots.take("eu", never)).toBe(true);
}

describe("EvictionSlots", () => {
	test("asks for 125 at most, over rounds that go on and pods that are granted", async () => {
		const slots = new EvictionSlots();
		expect(slots.ask("eu", 70)).toBe(70);
		expect(slots.ask("eu", 70)).toBe(55);
		expect(slots.ask("eu", 1)).toBe(0);
		expect(slots.ask("us", 1)).toBe(1);
		await takeAll(slots, 20);
		slots.answered("eu", 70);
		expect(slots.ask("eu", 60)).toBe(50);
	});

	test("makes no round for a few of many while others are on their way", async () => {
		const slots = new EvictionSlots();
		await takeAll(slots, 100);
		for (let waiting = 0; waiting < 20; waiting += 1) void slots.take("eu", never);
		expect(slots.ask("eu", 30)).toBe(0);
		expect(slots.ask("eu", 5)).toBe(5);
		slots.answered("eu", 5);
		for (let given = 0; given < 7; given += 1) slots.giveBack("eu");
		expect(slots.ask("eu", 30)).toBe(12);
	});

	test("lets those that wait go in their order, and passes over whoever left", async () => {
		const slots = new EvictionSlots();
		await takeAll(slots, 100);
		const order: string[] = [];
		const leaving = new AbortController();
		const waiting = (["a", "b", "c"] as const).map(async (name) => {
			if (await slots.take("eu", name === "b" ? leaving.signal : never)) order.push(name);
			else order.push(`${name} left`);
		});
		leaving.abort();
		await waiting[1];
		slots.giveBack("eu");
		await waiting[0];
		slots.giveBack("eu");
		await waiting[2];
		expect(order).toEqual(["b left", "a", "c"]);
	});

	test("has its slot for the next where its turn came in the moment that it left", async () => {
		const slots = new EvictionSlots();
		await takeAll(slots, 100);
		const leaving = new AbortController();
		const left = slots.take("eu", leaving.signal);
		const next = slots.take("eu", never);
		leaving.abort();
		slots.giveBack("eu");
		expect(await left).toBe(false);
		expect(await next).toBe(true);
	});

	test("tells when there is room for more", async () => {
		const slots = new EvictionSlots();
		slots.ask("eu", 125);
		const freed = slots.freed(never);
		slots.answered("eu", 125);
		await expect(freed).resolves.toBeUndefined();
		const stop = new AbortController();
		const stopped = slots.freed(stop.signal);
		stop.abort();
		await expect(stopped).resolves.toBeUndefined();
		await expect(slots.freed(stop.signal)).resolves.toBeUndefined();
	});
});
