import { describe, expect, test } from "vitest";
import {
	compareResourceVersions,
	isResourceVersion,
	latestResourceVersion,
} from "../../disruption/resource-version.ts";

describe("compareResourceVersions()", () => {
	const rows = [
		{ name: "equal versions are equal", a: "17", b: "17", expected: 0 },
		{ name: "a longer number is newer, whatever its digits", a: "9", b: "10", expected: -1 },
		{ name: "numbers of one length compare digit by digit", a: "1999", b: "2000", expected: -1 },
		{
			name: "numbers beyond 64 bits keep their order",
			a: "340282366920938463463374607431768211456",
			b: "340282366920938463463374607431768211455",
			expected: 1,
		},
		{
			name: "numbers that a double cannot tell apart are told apart",
			a: "9007199254740993",
			b: "9007199254740992",
			expected: 1,
		},
		{ name: "nothing seen yet is older than every version", a: "", b: "0", expected: -1 },
		{ name: "nothing seen equals nothing seen", a: "", b: "", expected: 0 },
	];
	for (const { name, a, b, expected } of rows) {
		test(name, () => {
			expect(Math.sign(compareResourceVersions(a, b))).toBe(expected);
			expect(Math.sign(compareResourceVersions(b, a))).toBe(expected === 0 ? 0 : -expected);
		});
	}

	for (const garbled of ["abc", "12a", " 12", "12 ", "-1", "+1", "1.5", "1e3", "007", "0x10", "١٢"]) {
		test(`refuses to order ${JSON.stringify(garbled)}`, () => {
			expect(isResourceVersion(garbled)).toBe(false);
			expect(() => compareResourceVersions(garbled, "1")).toThrow(TypeError);
			expect(() => compareResourceVersions("1", garbled)).toThrow(TypeError);
			expect(() => compareResourceVersions(garbled, garbled)).toThrow(TypeError);
		});
	}
});

describe("latestResourceVersion()", () => {
	test("is the newest of all", () => {
		expect(latestResourceVersion("99", "100", "", "7")).toBe("100");
	});

	test("is empty where there is nothing to choose from", () => {
		expect(latestResourceVersion()).toBe("");
		expect(latestResourceVersion("", "")).toBe("");
	});
});
