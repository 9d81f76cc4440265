import { describe, expect, test } from "vitest";
import { calmMs, longestPause, type SoakResult } from "./soak.ts";
import { finalReport } from "./soak-report.ts";

const held: SoakResult = {
	seconds: 120,
	verdicts: [{ workload: "db", evictions: 3, deepest: 0, violations: [] }],
	evictedPrimaries: [],
	tally: { runs: new Map(), refusals: 1, crashes: [] },
	faults: [{ name: "etcd of c1 killed", recoverySeconds: 2 }],
	agentMemoryMb: [70],
	leaks: [],
	longestPauseSeconds: 12,
};

describe("finalReport()", () => {
	test("says that it held", () => {
		expect(finalReport(held).held).toBe(true);
		expect(finalReport(held).lines.at(-1)).toBe("soak: held for 2 min 00 s");
	});

	const failures: readonly { readonly name: string; readonly change: Partial<SoakResult>; readonly says: RegExp }[] = [
		{ name: "a leak", change: { leaks: ["a Lease is held"] }, says: /^leak: a Lease is held$/m },
		{ name: "an evicted primary", change: { evictedPrimaries: ["c1/pg-0"] }, says: /^violation: c1\/pg-0$/m },
		{ name: "a run that was stuck", change: { longestPauseSeconds: 61 }, says: /^stuck: nothing was evicted for/m },
		{ name: "nothing evicted at all", change: { verdicts: [] }, says: /^nothing was evicted/m },
		{ name: "a crash", change: { tally: { ...held.tally, crashes: ["exit code 1"] } }, says: /^crash: exit code 1$/m },
	];
	for (const { name, change, says } of failures) {
		test(`does not take ${name} for held`, () => {
			const report = finalReport({ ...held, ...change });
			expect(report.held).toBe(false);
			expect(report.lines.join("\n")).toMatch(says);
		});
	}
});

test("longestPause() is the longest time between two instants", () => {
	expect(longestPause([5])).toBe(0);
	expect(longestPause([5, 6, 9, 10])).toBe(3);
});

test("calmMs() leaves time to recover between two faults", () => {
	expect([calmMs(() => 0), calmMs(() => 1)]).toEqual([2_000, 8_000]);
});
