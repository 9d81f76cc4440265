import { describe, expect, test } from "vitest";
import { newRun } from "./eviction-run.ts";
import { FakeFleet } from "./fake-fleet.ts";

describe("many pods under a budget", () => {
	test("go into a round by an earlier list, which is not believed where it has become wrong", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: "100%" });
		const [eu] = fleet.members;
		if (!eu) throw new Error("no members");
		const names = ["db-0", "db-1", "db-2", "db-3"];
		const [first, second, third, fourth] = names.map((name) => eu.addPod(name));
		if (!first || !second || !third || !fourth) throw new Error("no pods");
		const run = newRun(fleet);
		expect(await run.evictions.evict(run.job(eu, first))).toMatchObject({ kind: "evicted" });
		expect(await run.evictions.evict(run.job(eu, second))).toMatchObject({ kind: "evicted" });
		expect(fleet.lists).toBe(1);
		fleet.budgets.length = 0;
		fleet.addBudget("db", {
			maxUnavailable: "100%",
			selector: { matchExpressions: [{ key: "app", operator: "Exists" }] },
		});
		expect(await run.evictions.evict(run.job(eu, third))).toMatchObject({ kind: "evicted" });
		expect(fleet.lists).toBe(2);
		fleet.budgets.length = 0;
		expect(await run.evictions.evict(run.job(eu, fourth))).toMatchObject({ kind: "evicted" });
		expect(fleet.lists).toBe(3);
		expect(fleet.evictions.map(({ reserved }) => reserved)).toEqual([true, true, true, false]);
	});

	test("of one cluster are on their way 25 at a time", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: "100%" });
		const [eu] = fleet.members;
		if (!eu) throw new Error("no members");
		const pods = Array.from({ length: 60 }, (_, index) => eu.addPod(`db-${index}`));
		let most = 0;
		fleet.onEviction = () => {
			most = Math.max(most, eu.reservations.size);
		};
		const run = newRun(fleet);
		const outcomes = await Promise.all(pods.map((pod) => run.evictions.evict(run.job(eu, pod))));
		expect(outcomes.map(({ kind }) => kind)).toEqual(Array(60).fill("evicted"));
		expect(most).toBeLessThanOrEqual(25);
	});
});
