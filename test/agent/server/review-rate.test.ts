import { describe, expect, test } from "vitest";
import { ReviewRate } from "../../../agent/server/review-rate.ts";

/** Requests this many reviews, ends each at once, and returns how many were allowed. */
function asked(rate: ReviewRate, address: string, tries: number): number {
	let begun = 0;
	for (let index = 0; index < tries; index++) {
		const end = rate.begin(address);
		end?.();
		if (end) begun++;
	}
	return begun;
}

describe("ReviewRate", () => {
	test("bounds one address, and all that connect directly, and leaves the rest to people", () => {
		let now = 0;
		const rate = new ReviewRate({ now: () => now });
		expect(asked(rate, "10.0.0.1", 3_000)).toBe(5);
		expect(asked(rate, "10.0.0.2", 3_000)).toBe(5);
		for (let pod = 3; pod < 200; pod++) asked(rate, `10.0.0.${pod}`, 10);
		expect(asked(rate, "10.0.1.1", 1)).toBe(0);
		expect(asked(rate, "127.0.0.1", 3_000)).toBe(40);
		now = 1_000;
		expect(asked(rate, "10.0.0.1", 3_000)).toBe(1);
		expect(asked(rate, "127.0.0.1", 3_000)).toBe(10);
	});

	test("waits for answers to twenty questions", () => {
		const rate = new ReviewRate({ now: () => 0 });
		const ends = Array.from({ length: 30 }, () => rate.begin("127.0.0.1"));
		expect(ends.filter((end) => end !== undefined)).toHaveLength(20);
		ends[0]?.();
		expect(rate.begin("127.0.0.1")).toBeDefined();
	});

	test("remembers a bounded number of addresses", () => {
		let now = 0;
		const rate = new ReviewRate({ now: () => now });
		for (let index = 0; index < 5_000; index++) rate.begin(`10.1.${index >> 8}.${index & 255}`)?.();
		now = 60_000;
		expect(asked(rate, "10.9.9.9", 10)).toBe(5);
	});
});
