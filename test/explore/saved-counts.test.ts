import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { countsFolder, readCounts, writeCounts } from "./saved-counts.ts";
import { emptySum } from "./scenario-sum.ts";

const folder = mkdtempSync(join(tmpdir(), "xpdb-counts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const key = { scenario: "race", seed: 7, hash: "0123456789abcdef" };

describe("readCounts()", () => {
	test("gives back what was written", () => {
		const sum = { ...emptySum(), schedules: 120, steps: 9, strategies: { even: 20 }, seen: new Set([1, 2 ** 32 - 1]) };
		writeCounts(folder, key, sum);
		expect(readCounts(folder, key)).toEqual(sum);
	});

	test("has nothing of other seeds and of other sources", () => {
		writeCounts(folder, key, { ...emptySum(), schedules: 120 });
		expect(readCounts(folder, { ...key, seed: 8 }).schedules).toBe(0);
		expect(readCounts(folder, { ...key, hash: "fedcba9876543210" }).schedules).toBe(0);
	});

	test("begins anew where the file is cut", () => {
		const broken = { ...key, scenario: "greeted" };
		writeFileSync(join(folder, "greeted-7-0123456789abcdef.json"), '{"schedules":12');
		expect(readCounts(folder, broken)).toEqual(emptySum());
	});
});

test("countsFolder() is in XDG_CACHE_HOME where that is set", () => {
	expect(countsFolder({ XDG_CACHE_HOME: "/var/cache/me" })).toBe("/var/cache/me/xpdb/exploration");
	expect(countsFolder({})).toMatch(/\/\.cache\/xpdb\/exploration$/);
});
