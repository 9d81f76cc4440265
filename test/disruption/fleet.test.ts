import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fleetHash } from "../../disruption/budget/fleet.ts";

describe("fleetHash()", () => {
	test("does not depend on the order", () => {
		expect(fleetHash(["eu", "us", "ap"])).toBe(fleetHash(["ap", "eu", "us"]));
	});

	const others: readonly { readonly name: string; readonly members: readonly string[] }[] = [
		{ name: "a member less", members: ["eu"] },
		{ name: "a member more", members: ["ap", "eu", "us"] },
		{ name: "another member", members: ["eu", "ap"] },
		{ name: "ids that are one text when joined", members: ["euus"] },
		{ name: "no members", members: [] },
	];
	for (const { name, members } of others) {
		test(`differs for ${name}`, () => expect(fleetHash(members)).not.toBe(fleetHash(["eu", "us"])));
	}

	test("is the same for the same set and another one for another set", () => {
		const ids = fc.uniqueArray(fc.uuid(), { maxLength: 5 });
		fc.assert(
			fc.property(ids, ids, (a, b) => {
				const same = a.toSorted().join() === b.toSorted().join();
				expect(fleetHash(a) === fleetHash(b)).toBe(same);
			}),
		);
	});

	test("is short enough to be shown", () => expect(fleetHash(["eu"])).toMatch(/^[0-9a-f]{32}$/));
});
