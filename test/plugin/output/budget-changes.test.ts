import { describe, expect, test } from "vitest";
import type { BudgetRow } from "../../../plugin/fleet/budget-table.ts";
import type { MemberState } from "../../../plugin/fleet/watched-member.ts";
import { BudgetChangeLines } from "../../../plugin/output/budget-changes.ts";

const now = Date.parse("2026-01-01T00:00:10.000Z");
const eu: MemberState = { name: "eu", problem: undefined, isPolled: false };
const us: MemberState = { name: "us", problem: undefined, isPolled: false };

function row(name: string, healthy: number | undefined, more: Partial<BudgetRow> = {}): BudgetRow {
	return {
		namespace: "shop",
		name,
		allowed: healthy === undefined ? undefined : Math.max(0, healthy - 5),
		healthy,
		need: healthy === undefined ? undefined : 5,
		expected: healthy === undefined ? undefined : 6,
		suspended: false,
		perCluster: new Map([["eu", { healthy: 3, expected: 3 }]]),
		members: [
			{ cluster: "eu", bound: "maxUnavailable 1", suspended: false, suspension: undefined },
			{ cluster: "us", bound: "maxUnavailable 1", suspended: false, suspension: undefined },
		],
		usedBy: [],
		problem: undefined,
		...more,
	};
}

function print({ isWide = false, columns = undefined as number | undefined, headers = true, clock = () => now } = {}) {
	return new BudgetChangeLines({ isWide, headers, columns: () => columns, now: clock });
}

const terminating = {
	cluster: "eu",
	namespace: "shop",
	name: "db-0",
	why: "Terminating" as const,
	sinceSeconds: now / 1_000 - 3,
};

describe("BudgetChangeLines.rows()", () => {
	test("appends rows to the first ones, in their columns", () => {
		const lines = print();
		expect(lines.rows([row("cart", 6), row("db", 6)], [], [eu, us])).toEqual([
			"NAMESPACE   NAME   ALLOWED   HEALTHY   NEED   EXPECTED   USED BY",
			"shop        cart   1         6         5      6",
			"shop        db     1         6         5      6",
		]);
		expect(lines.rows([row("db", 5, { usedBy: [terminating] })], [], [eu, us])).toEqual([
			"shop        db     0         5         5      6          eu/db-0 Terminating 3s",
		]);
		expect(lines.rows([row("db", undefined, { problem: "us: no answer" })], [], [eu, us])).toEqual([
			"shop        db     ?         ?         ?      ?",
		]);
		expect(lines.rows([], [{ namespace: "shop", name: "db" }], [eu, us])).toEqual([
			"shop        db     gone      -         -      -",
		]);
	});

	test("has a column for each cluster", () => {
		expect(print({ isWide: true }).rows([row("db", 6)], [], [eu, us])).toEqual([
			"NAMESPACE   NAME   ALLOWED   HEALTHY   NEED   EXPECTED   eu    us   BOUND",
			"shop        db     1         6         5      6          3/3   ?    maxUnavailable 1",
		]);
		const narrow = print({ isWide: true, columns: 80 }).rows([row("db", 6)], [], [eu, us]);
		expect(narrow.at(-1)).toBe("shop        db     1         6         5      6          3/3   ?    maxUn..ble 1");
	});

	test("leaves out what cannot be seen in the row", () => {
		const lines = print({ headers: false });
		expect(lines.rows([row("db", 5, { usedBy: [terminating] })], [], [eu, us])).toHaveLength(1);
		const later = { ...terminating, message: "another" };
		expect(lines.rows([row("db", 5, { usedBy: [later] })], [], [eu, us])).toEqual([]);
	});

	test("ends with the line of a terminal", () => {
		const lines = print({ columns: 70, headers: false }).rows([row("db", 5, { usedBy: [terminating] })], [], [eu, us]);
		expect(lines.every((line) => line.length <= 70)).toBe(true);
		expect(lines[0]).toContain("eu/db-0 Ter");
	});
});

describe("BudgetChangeLines.notes()", () => {
	test("tells once why a member is not known, and when it is again", () => {
		const lines = print();
		const silent = { ...us, problem: "its agents give no answer" };
		const unknown = row("db", undefined, { problem: "us: its agents give no answer" });
		expect(lines.notes([unknown], [eu, silent])).toEqual(["error: us: its agents give no answer"]);
		expect(lines.notes([unknown], [eu, silent])).toEqual([]);
		expect(lines.notes([row("db", 6)], [eu, us])).toEqual(["us: answers again"]);
	});

	test("tells once what a row has no room for", () => {
		const lines = print();
		const refusing = row("db", undefined, { problem: "its selectors differ" });
		expect(lines.notes([refusing], [eu, us])).toEqual(["shop/db refuses every eviction: its selectors differ"]);
		expect(lines.notes([refusing], [eu, us])).toEqual([]);
	});

	test("tells once for how long a budget is suspended, and not at each moment anew", () => {
		const clock = { at: now };
		const lines = print({ clock: () => clock.at });
		const suspension = { by: "alice@laptop", since: "2025-12-31T23:48:10.000Z" };
		const member = { cluster: "eu", bound: "maxUnavailable 1", suspended: true, suspension };
		const suspended = row("db", 6, { suspended: true, members: [member] });
		expect(lines.notes([suspended], [eu])).toEqual([
			"shop/db is suspended and blocks no eviction: by alice@laptop for 12m00s",
		]);
		clock.at += 60_000;
		expect(lines.notes([suspended], [eu])).toEqual([]);
	});

	test("says which members are asked instead of telling", () => {
		expect(print().notes([], [eu, { ...us, isPolled: true }])).toEqual([
			"us: its agent is older than budgets -w: it is asked every 5 s or more seldom",
		]);
	});
});
