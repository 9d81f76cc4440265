import fc from "fast-check";
import { expect, test } from "vitest";
import { clockText, placeOf, ticksOf } from "../../../plugin/picture/time-axis.ts";

const at = (text: string): number => Date.parse(`2026-01-01T${text}Z`);

test("ticksOf() are whole seconds, minutes or hours", () => {
	expect(ticksOf({ from: at("12:00:03"), to: at("12:01:00") }).map(clockText)).toEqual([
		"12:00:10",
		"12:00:20",
		"12:00:30",
		"12:00:40",
		"12:00:50",
		"12:01:00",
	]);
	expect(ticksOf({ from: at("09:50:00"), to: at("12:10:00") }).map(clockText)).toEqual([
		"10:00:00",
		"10:30:00",
		"11:00:00",
		"11:30:00",
		"12:00:00",
	]);
});

test("ticksOf() are at most eight, even if the run begins and ends at one", () => {
	expect(ticksOf({ from: at("12:00:00"), to: at("12:00:07") })).toHaveLength(8);
	expect(ticksOf({ from: at("12:00:00"), to: at("12:00:08") }).map(clockText)).toEqual([
		"12:00:00",
		"12:00:02",
		"12:00:04",
		"12:00:06",
		"12:00:08",
	]);
	const day = 24 * 60 * 60 * 1_000;
	for (const days of [8, 16, 80]) expect(ticksOf({ from: 0, to: days * day }).length).toBeLessThanOrEqual(8);
});

test("a run of any length has few ticks, each on the page, in order", () => {
	fc.assert(
		fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 0, max: 1e11 }), (from, length) => {
			const range = { from, to: from + length };
			const places = ticksOf(range).map((tick) => placeOf(tick, range));
			expect(places.length).toBeLessThanOrEqual(8);
			expect(places).toEqual(places.toSorted((a, b) => a - b));
			expect(places.every((place) => place >= 0 && place <= 1_000)).toBe(true);
		}),
	);
});
