import { describe, expect, test } from "vitest";
import { formatAge, formatDuration, formatElapsed, parseDuration, timerMs } from "../../../plugin/flags/duration.ts";

describe("parseDuration()", () => {
	const rows: readonly { readonly text: string; readonly expected: number | undefined }[] = [
		{ text: "0", expected: 0 },
		{ text: "30s", expected: 30_000 },
		{ text: "1m30s", expected: 90_000 },
		{ text: "1.5h", expected: 5_400_000 },
		{ text: ".5s", expected: 500 },
		{ text: "100ms", expected: 100 },
		{ text: "-5s", expected: -5_000 },
		{ text: "1ns", expected: 1e-6 },
		{ text: "0.5ns", expected: 0 },
		{ text: "30", expected: undefined },
		{ text: "", expected: undefined },
		{ text: "abc", expected: undefined },
		{ text: "5s x", expected: undefined },
		{ text: "2562047h", expected: 2_562_047 * 3_600_000 },
		{ text: "2562048h", expected: undefined },
		{ text: `${"9".repeat(400)}h`, expected: undefined },
	];
	for (const { text, expected } of rows) {
		test(`"${text}"`, () => {
			expect(parseDuration(text)).toBe(expected);
		});
	}
});

test("timerMs() is never more than a timer takes, which would ring at once", () => {
	expect(timerMs(1_000)).toBe(1_000);
	expect(timerMs(1_000 * 3_600_000)).toBe(2 ** 31 - 1);
});

describe("formatDuration()", () => {
	const rows: readonly { readonly ms: number; readonly expected: string }[] = [
		{ ms: 0, expected: "0s" },
		{ ms: -5_000, expected: "-5s" },
		{ ms: 1e-6, expected: "1ns" },
		{ ms: 0.0015, expected: "1.5µs" },
		{ ms: 0.25, expected: "250µs" },
		{ ms: 1.5, expected: "1.5ms" },
		{ ms: 500, expected: "500ms" },
		{ ms: -0.5, expected: "-500µs" },
		{ ms: 12_000, expected: "12s" },
		{ ms: 60_000, expected: "1m0s" },
		{ ms: 90_500, expected: "1m30.5s" },
		{ ms: 3_600_000, expected: "1h0m0s" },
	];
	for (const { ms, expected } of rows) {
		test(`${ms} ms as Go prints it`, () => {
			expect(formatDuration(ms)).toBe(expected);
		});
	}
});

test("formatElapsed() rounds down to whole seconds", () => {
	expect([999, 12_900, 125_000, 3_720_000].map(formatElapsed)).toEqual(["0s", "12s", "2m05s", "1h02m"]);
});

describe("formatAge()", () => {
	const rows: readonly (readonly [ms: number, text: string])[] = [
		[-5_000, "0s"],
		[59_999, "59s"],
		[60_000, "1m"],
		[3_599_000, "59m"],
		[3_600_000, "1h"],
		[47.9 * 3_600_000, "47h"],
		[48 * 3_600_000, "2d"],
	];
	for (const [ms, text] of rows) test(`${ms} is ${text}`, () => expect(formatAge(ms)).toBe(text));
});
