import { describe, expect, test } from "vitest";
import { TokenBucket } from "../../../agent/process/token-bucket.ts";

describe("TokenBucket", () => {
	test("gives a burst at once, and then as many as the time gives", () => {
		let now = 0;
		const bucket = new TokenBucket({ perSecond: 2, burst: 3, now: () => now });
		const taken = (tries: number) => Array.from({ length: tries }, () => bucket.take()).filter(Boolean).length;
		expect(taken(5)).toBe(3);
		now = 499;
		expect(taken(5)).toBe(0);
		now = 500;
		expect(taken(5)).toBe(1);
		now = 60_000;
		expect(bucket.isFull).toBe(true);
		expect(taken(5)).toBe(3);
		expect(bucket.isFull).toBe(false);
	});
});
