import { describe, expect, test } from "vitest";
import { type Place, Places } from "../../disruption/round/places.ts";

const never = new AbortController().signal;

async function takeAll(places: Places, count: number): Promise<readonly Place[]> {
	const taken = Array.from({ length: count }, () => places.keep("eu"));
	for (const place of taken) expect(await place.turn(never)).toBe(true);
	return taken;
}

describe("Places", () => {
	test("asks for 112 at most, over rounds that go on and pods that are granted", async () => {
		const places = new Places();
		expect(places.ask("eu", 70)).toBe(70);
		expect(places.ask("eu", 70)).toBe(42);
		expect(places.ask("eu", 1)).toBe(0);
		expect(places.ask("us", 1)).toBe(1);
		await takeAll(places, 20);
		places.answered("eu", 70);
		expect(places.ask("eu", 60)).toBe(50);
	});

	test("makes no round for a few of many while others are on their way", async () => {
		const places = new Places();
		const taken = await takeAll(places, 100);
		for (let waiting = 0; waiting < 7; waiting += 1) void places.keep("eu").turn(never);
		expect(places.ask("eu", 30)).toBe(0);
		expect(places.ask("eu", 5)).toBe(5);
		places.answered("eu", 5);
		for (const place of taken.slice(0, 7)) place.end();
		expect(places.ask("eu", 30)).toBe(12);
	});

	test("lets those that wait go in their order, and passes over whoever left", async () => {
		const places = new Places();
		const [first, second] = await takeAll(places, 100);
		const order: string[] = [];
		const leaving = new AbortController();
		const waiting = (["a", "b", "c"] as const).map(async (name) => {
			const isItsTurn = await places.keep("eu").turn(name === "b" ? leaving.signal : never);
			order.push(isItsTurn ? name : `${name} left`);
		});
		leaving.abort();
		await waiting[1];
		first?.end();
		await waiting[0];
		second?.end();
		await waiting[2];
		expect(order).toEqual(["b left", "a", "c"]);
	});

	test("has its place for the next where its turn came in the moment that it left", async () => {
		const places = new Places();
		const [first] = await takeAll(places, 100);
		const leaving = new AbortController();
		const left = places.keep("eu").turn(leaving.signal);
		const next = places.keep("eu").turn(never);
		leaving.abort();
		first?.end();
		expect(await left).toBe(false);
		expect(await next).toBe(true);
	});

	test("tells when more may be granted", async () => {
		const places = new Places();
		places.ask("eu", 112);
		const freed = places.freed(never);
		places.answered("eu", 112);
		await expect(freed).resolves.toBeUndefined();
		const stop = new AbortController();
		const stopped = places.freed(stop.signal);
		stop.abort();
		await expect(stopped).resolves.toBeUndefined();
		await expect(places.freed(stop.signal)).resolves.toBeUndefined();
	});

	test("asks for nothing while it is paused, and wakes those that wait when it goes on", async () => {
		const places = new Places();
		places.pause();
		expect(places.ask("eu", 5)).toBe(0);
		const leaving = new AbortController();
		const left = places.resumed(leaving.signal);
		leaving.abort();
		await left;
		expect(places.isPaused).toBe(true);
		const resumed = places.resumed(never);
		places.resume();
		await resumed;
		expect(places.ask("eu", 5)).toBe(5);
	});
});
