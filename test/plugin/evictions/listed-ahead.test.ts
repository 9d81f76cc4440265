// Tests budget lists that were read while the fleet was connected, before the run asks which budgets cover its pods.
import { describe, expect, test } from "vitest";
import type { ListedBudgets } from "../../../disruption/budget/coverage-judgement.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet, namespace } from "../../support/fake-fleet.ts";

/** Evicts one pod, `ms` after all members except `without` listed no budget. With `budget`, one was created since. */
async function evictAfter({
	ms,
	budget = false,
	without,
}: {
	readonly ms: number;
	readonly budget?: boolean;
	readonly without?: string;
}) {
	const fleet = new FakeFleet(["eu", "us"]);
	const eu = fleet.member("eu");
	const pod = eu.addPod("db-0");
	const members = await fleet.listBudgets([namespace]);
	fleet.lists = 0;
	const listed: { listedAhead: ListedBudgets } = {
		listedAhead: {
			askedAt: newRun(fleet).runtime.now() - ms,
			namespaces: [namespace],
			members: members.filter(({ clusterName }) => clusterName !== without),
		},
	};
	if (budget) fleet.addBudget("db", { maxUnavailable: 1 });
	const run = newRun(Object.assign(fleet, listed));
	expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
	return { lists: fleet.lists, reserved: fleet.evictions.map(({ reserved }) => reserved) };
}

describe("budgets that were listed ahead", () => {
	test("are not asked for again while they are young", async () => {
		expect(await evictAfter({ ms: 100 })).toEqual({ lists: 0, reserved: [false] });
	});

	test("say nothing once they are old: a budget that was made since then is obeyed", async () => {
		expect(await evictAfter({ ms: 1_001, budget: true })).toEqual({ lists: 1, reserved: [true] });
	});

	test("say nothing where a member is missing among them", async () => {
		expect(await evictAfter({ ms: 100, budget: true, without: "us" })).toEqual({ lists: 1, reserved: [true] });
	});
});
