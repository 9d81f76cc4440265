import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { distinctNames, nameColumn } from "../../../plugin/ui/distinct-names.ts";
import { widthOf } from "../../../plugin/ui/styled-line.ts";

const shown = (names: readonly string[], columns: number) => [...distinctNames(names, columns).values()];

describe("distinctNames()", () => {
	test("leaves what fits as it is, and cuts the middle else", () => {
		expect(shown(["eu", "production-eu-1", "production-eu-2"], 10)).toEqual(["eu", "prod..eu-1", "prod..eu-2"]);
	});

	test("shows the part in which names differ", () => {
		expect(shown(["node-aaaa-7-pool-main-0001", "node-aaaa-8-pool-main-0001"], 16)).toEqual([
			"node-..7-pool-..",
			"node-..8-pool-..",
		]);
	});

	test("numbers those that differ in too many places", () => {
		const names = shown(["aaaa-1-bbbb-cccc-dddd", "aaaa-2-bbbb-cccc-dddd", "aaaa-1-bbbb-xxxx-dddd"], 9);
		expect(new Set(names).size).toBe(3);
	});

	test("makes no two names alike, and none too wide", () => {
		const name = fc.stringMatching(/^[ab]{1,4}(-[ab1]{1,5}){0,6}$/);
		fc.assert(
			fc.property(fc.uniqueArray(name, { maxLength: 8 }), fc.integer({ min: 8, max: 30 }), (names, columns) => {
				const texts = shown(names, columns);
				expect(new Set(texts).size).toBe(names.length);
				for (const text of texts) expect(widthOf(text)).toBeLessThanOrEqual(columns);
			}),
		);
	});
});

test("nameColumn() is as wide as the names, within its bounds", () => {
	expect(nameColumn(["a", "node-1"], { least: 4, most: 20 })).toBe(7);
	expect(nameColumn(["a"], { least: 4, most: 20 })).toBe(4);
	expect(nameColumn(["a-name-that-is-longer"], { least: 4, most: 10 })).toBe(10);
});
