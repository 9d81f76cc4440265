import { describe, expect, test } from "vitest";
import { HeldLeases } from "../../../agent/leases/held-leases.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import { acquisition } from "../../support/samples.ts";

const numbered = (number: number) => ({ ...acquisition, nonce: `nonce-${number}` });

describe("HeldLeases", () => {
	test("gives back what is held, once, and not what has ended", async () => {
		const held = new HeldLeases(() => 0);
		const cluster = createFakeCluster();
		held.add(cluster, numbered(1));
		held.add(cluster, numbered(2));
		held.ended(numbered(1));
		expect(await held.giveBack()).toEqual([]);
		await held.giveBack();
		expect(cluster.asked).toEqual([["release", numbered(2)]]);
	});

	test("says for how long a lease was held", () => {
		let now = 100;
		const held = new HeldLeases(() => now);
		held.add(createFakeCluster(), acquisition);
		now = 350;
		expect(held.ended(acquisition)).toBe(250);
		expect(held.ended(acquisition)).toBeUndefined();
	});

	test("forgets leases that nobody has renewed for twice their time", async () => {
		let now = 0;
		const held = new HeldLeases(() => now);
		const cluster = createFakeCluster();
		held.add(cluster, numbered(1));
		held.add(cluster, numbered(2));
		now = 15_000;
		held.renewed(numbered(2));
		now = 21_000;
		await held.giveBack();
		expect(cluster.asked).toEqual([["release", numbered(2)]]);
	});

	test("tells of what could not be given back, and gives back the rest", async () => {
		const held = new HeldLeases(() => 0);
		const problem = new Error("No answer");
		const fine = createFakeCluster();
		held.add(createFakeCluster({ release: () => Promise.reject(problem) }), numbered(1));
		held.add(fine, numbered(2));
		expect(await held.giveBack()).toEqual([problem]);
		expect(fine.asked).toEqual([["release", numbered(2)]]);
	});
});
