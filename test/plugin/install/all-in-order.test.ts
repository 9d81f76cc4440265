import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { allInOrder } from "../../../plugin/install/all-in-order.ts";

async function refusedAfter(ms: number, reason: Error): Promise<never> {
	await delay(ms);
	throw reason;
}

describe("allInOrder()", () => {
	test("gives the answers in their order", async () => {
		await expect(allInOrder([delay(5, "slow"), Promise.resolve(2), "known"])).resolves.toEqual(["slow", 2, "known"]);
	});

	test("tells the first refusal of the list, though a later one was quicker", async () => {
		const first = new Error("cannot read its version");
		const quicker = new Error("cannot list the teams");
		await expect(allInOrder([delay(1), refusedAfter(5, first), refusedAfter(0, quicker)])).rejects.toBe(first);
	});
});
