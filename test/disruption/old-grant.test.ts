import { describe, expect, test } from "vitest";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { budget } from "../support/build-count.ts";
import { grantPod, zone } from "./granted-pod.ts";

describe("evictUnderTicket() of a grant that has grown old", () => {
	const spec = (more: object) => ({ selector: { matchLabels: { app: "db" } }, maxUnavailable: 1, ...more });
	const other: BudgetName = { namespace: "shop", name: "later" };

	test("is not sent where it grows old while it waits, and is confirmed before it goes", async () => {
		const { run, calls } = grantPod({ beforeSending: (attempt) => (attempt === 1 ? 1_001 : 0) });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["not sent", "read", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	test("is not sent by lists that grow old while it waits", async () => {
		const { run, calls } = grantPod({ ageMs: 1_001, beforeSending: (attempt) => (attempt === 1 ? 1_001 : 0) });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["read", "eu confirm", "not sent", "read", "eu confirm", "evict db-0 uid-db-0 102 id-db-0"]);
	});

	test("is given back where it always waits for too long", async () => {
		const { run, calls, reservations } = grantPod({ beforeSending: () => 1_001 });
		expect(await run()).toEqual({
			kind: "conflict",
			message: "the eviction of pod shop/db-0 waited too long to be sent, 8 times",
		});
		expect(calls.filter((call) => call === "not sent")).toHaveLength(8);
		expect(calls.at(-1)).toBe("eu cancel sent");
		expect(reservations()).toBe(0);
	});

	test("goes by a list that is asked for again where the reservation took long to be read", async () => {
		const { run, calls } = grantPod({ ageMs: 1_001, listed: (list) => (list === 1 ? { tookMs: 1_400 } : {}) });
		expect(await run()).toEqual({ kind: "accepted" });
		expect(calls).toEqual(["read", "eu confirm", "evict db-0 uid-db-0 101 id-db-0"]);
	});

	const lost: readonly {
		readonly name: string;
		readonly budgets?: readonly BudgetName[];
		readonly listed: { readonly budgets?: readonly MemberBudget[]; readonly tookMs?: number };
		readonly why: string;
	}[] = [
		{
			name: "got another budget",
			listed: {
				budgets: [
					{ name: budget, spec: spec({}) },
					{ name: other, spec: spec({}) },
				],
			},
			why: "came under budget shop/later",
		},
		{
			name: "has a budget that allows something else",
			listed: { budgets: [{ name: budget, spec: spec({ maxUnavailable: 0 }) }] },
			why: "saw budget shop/db change",
		},
		{
			name: "has a budget that was suspended when it was counted",
			listed: { budgets: [{ name: budget, spec: spec({ suspend: true }) }] },
			why: "saw budget shop/db change",
		},
		{
			name: "has a budget that needs what was not looked at",
			listed: { budgets: [{ name: budget, spec: spec({ probe: { endpoint: "x" } }) }] },
			why: "saw budget shop/db change",
		},
		{
			name: "has a budget whose bound cannot be read any more",
			listed: { budgets: [{ name: budget, spec: spec({ maxUnavailable: "many" }) }] },
			why: "saw budget shop/db change",
		},
		{
			name: "has a budget whose selector cannot be read any more",
			listed: { budgets: [{ name: budget, spec: spec({ selector: 5 }) }] },
			why: "may have come under budget shop/db, which cannot be read,",
		},
		{ name: "has none any more", listed: { budgets: [] }, why: "left its budgets" },
		{
			name: "lost one of two",
			budgets: [budget, zone],
			listed: { budgets: [{ name: zone, spec: spec({}) }] },
			why: "left budget shop/db",
		},
		{ name: "takes too long to be judged", listed: { tookMs: 1_001 }, why: "could not be judged in time" },
	];
	test.each(lost)("is given back where the pod $name", async ({ budgets, listed, why }) => {
		const { run, calls, reservations } = grantPod({ ageMs: 1_001, ...(budgets && { budgets }), listed: () => listed });
		expect(await run()).toEqual({ kind: "conflict", message: `pod shop/db-0 ${why} before it was evicted` });
		expect(calls.filter((call) => call.startsWith("evict"))).toEqual([]);
		expect(calls.at(-1)).toBe("eu cancel sent");
		expect(reservations()).toBe(0);
	});
});
