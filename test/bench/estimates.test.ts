import { expect, test } from "vitest";
import { drawDrains, partWithin, widestRange } from "./estimates.ts";

test("eight of ten drains take as long as their plan says, and no range is wider than four times its lower end", () => {
	for (const seed of [1, 2, 3]) {
		const drains = drawDrains(seed, 200);
		expect(partWithin(drains)).toBeGreaterThanOrEqual(0.8);
		expect(widestRange(drains)).toBeLessThanOrEqual(4);
	}
});
