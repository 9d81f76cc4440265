import { expect, test } from "vitest";
import { sortedVersions } from "./kept.ts";

test("sortedVersions() compares numbers, not texts", () => {
	expect(sortedVersions(["0.10", "1.0", "0.2", "10.0", "0.1", "2.11", "2.9"])).toEqual([
		"0.1",
		"0.2",
		"0.10",
		"1.0",
		"2.9",
		"2.11",
		"10.0",
	]);
});
