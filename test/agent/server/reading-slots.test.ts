import { describe, expect, test } from "vitest";
import { ReadingSlots } from "../../../agent/server/reading-slots.ts";

describe("ReadingSlots", () => {
	test("let one caller read four at once, all together eight, and the others in turn", () => {
		const slots = new ReadingSlots();
		const reading: string[] = [];
		const take = (caller: string) => slots.take(caller, () => reading.push(caller));
		const alice = Array.from({ length: 6 }, () => take("alice"));
		expect(reading).toHaveLength(4);
		take("bob");
		expect(reading.at(-1)).toBe("bob");
		alice[0]?.();
		expect(reading.filter((caller) => caller === "alice")).toHaveLength(5);
		for (const caller of ["carol", "dave"]) for (let index = 0; index < 4; index++) take(caller);
		expect(reading).toHaveLength(9);
	});

	test("let 96 of one caller wait, twice as many of all, and give a place in line back", () => {
		const slots = new ReadingSlots();
		const ends = Array.from({ length: 100 }, () => slots.take("alice", () => undefined));
		expect(ends.every((end) => end !== undefined)).toBe(true);
		expect(slots.take("alice", () => undefined)).toBeUndefined();
		ends[99]?.();
		expect(slots.take("alice", () => undefined)).toBeDefined();
		const others = Array.from({ length: 200 }, (_, index) => slots.take(`caller ${index}`, () => undefined));
		expect(others.filter((end) => end !== undefined)).toHaveLength(4 + 96);
	});

	test("free a slot once", () => {
		const slots = new ReadingSlots();
		const ends = Array.from({ length: 4 }, () => slots.take("alice", () => undefined));
		ends[0]?.();
		ends[0]?.();
		let begun = 0;
		for (let index = 0; index < 4; index++) slots.take("alice", () => begun++);
		expect(begun).toBe(1);
	});
});
