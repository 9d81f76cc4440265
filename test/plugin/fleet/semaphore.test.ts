import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Semaphore } from "../../../plugin/fleet/semaphore.ts";

test("Semaphore.resize() lets those that wait take new places, in their order", async () => {
	const places = new Semaphore(1);
	await places.take();
	const order: number[] = [];
	for (const number of [1, 2, 3]) void places.take().then(() => order.push(number));
	places.resize(2);
	await turn();
	expect(order).toEqual([1, 2]);
	places.giveBack();
	await turn();
	expect(order).toEqual([1, 2, 3]);
});

test("Semaphore.resize() gives places that are no more to nobody when they are given back", async () => {
	const places = new Semaphore(3);
	for (let taken = 0; taken < 3; taken += 1) await places.take();
	places.resize(-2);
	let hasPlace = false;
	void places.take().then(() => {
		hasPlace = true;
	});
	places.giveBack();
	places.giveBack();
	await turn();
	expect(hasPlace).toBe(false);
	places.giveBack();
	await turn();
	expect(hasPlace).toBe(true);
});
