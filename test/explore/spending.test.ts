import { describe, expect, test } from "vitest";
import { nothingSpent, newStatesOf, Spending } from "./spending.ts";

const options = { total: 1_000, floorOf: () => 100, batch: 50, leastNew: 0.01 };
const none = new Uint32Array();

function spentOn(...names: readonly string[]) {
	return new Map(names.map((name) => [name, nothingSpent()]));
}

describe("Spending", () => {
	test("gives every scenario its floor first", () => {
		const spending = new Spending(spentOn("race", "greeted"), options);
		const given = Array.from({ length: 4 }, () => spending.next());
		expect(given.map((batch) => `${batch?.scenario} ${batch?.from}+${batch?.count}`)).toEqual([
			"race 0+50",
			"greeted 0+50",
			"race 50+50",
			"greeted 50+50",
		]);
	});

	test("goes on where most new states come for a second of processor", () => {
		const spent = spentOn("slow", "fast", "known");
		const spending = new Spending(spent, { ...options, floorOf: () => 50 });
		for (let batch = spending.next(), asked = 0; batch && asked < 3; asked += 1, batch = spending.next()) {
			const cpuMs = batch.scenario === "slow" ? 1_000 : 100;
			const once = batch.scenario === "known" ? none : Uint32Array.from({ length: 20 }, (_, index) => index);
			spending.took(batch.scenario, { schedules: batch.count, cpuMs, once, several: none });
			if (asked === 2) break;
		}
		expect(spending.next()?.scenario).toBe("fast");
	});

	test("ends where no scenario brings anything new", () => {
		const spending = new Spending(spentOn("known"), { ...options, floorOf: () => 50 });
		spending.next();
		spending.took("known", { schedules: 50, cpuMs: 100, once: none, several: Uint32Array.from([1, 2]) });
		expect(spending.next()).toBeUndefined();
	});

	test("goes on with scenarios of which nothing is known yet, where all floors are under way", () => {
		const spending = new Spending(spentOn("race"), { ...options, floorOf: () => 50 });
		expect([spending.next(), spending.next()].map((batch) => batch?.from)).toEqual([0, 50]);
	});

	test("goes on to the total where no number of new states is asked for", () => {
		const spending = new Spending(spentOn("known"), { ...options, floorOf: () => 50, leastNew: 0 });
		spending.next();
		spending.took("known", { schedules: 50, cpuMs: 100, once: none, several: none });
		expect(spending.next()?.from).toBe(50);
	});

	test("ends at the total", () => {
		const spending = new Spending(spentOn("race"), { ...options, total: 70 });
		expect(spending.next()?.count).toBe(50);
		expect(spending.next()?.count).toBe(20);
		expect(spending.next()).toBeUndefined();
	});

	test("goes on from what was spent before", () => {
		const spent = new Map([["race", { ...nothingSpent(), schedules: 70 }]]);
		expect(new Spending(spent, options).next()).toEqual({ scenario: "race", from: 70, count: 30 });
	});
});

describe("newStatesOf()", () => {
	test("is the share of schedules that met a state which no other met", () => {
		const spent = nothingSpent();
		const spending = new Spending(new Map([["race", spent]]), options);
		spending.took("race", { schedules: 4, cpuMs: 1, once: Uint32Array.from([1, 2]), several: Uint32Array.from([3]) });
		expect(newStatesOf(spent)).toBe(0.5);
		spending.took("race", { schedules: 4, cpuMs: 1, once: Uint32Array.from([1]), several: none });
		expect(newStatesOf(spent)).toBe(0.125);
	});
});
