// What pods that wait for a budget are said to wait for.
import { describe, expect, test } from "vitest";
import { newRun } from "../../support/eviction-run.ts";
import { newDatabase } from "./new-database.ts";

describe("pods that wait", () => {
	test("say who keeps them at once when others do, without a round", async () => {
		const { fleet, pods } = newDatabase();
		const [first, second, third] = pods;
		if (!first || !second || !third) throw new Error("no pods");
		second.pod.healthy = false;
		const run = newRun(fleet);
		// Ten seconds have more than thirty looks, and one round.
		first.member.onLook = () => {
			const { looks, rounds } = first.member;
			expect(rounds).toBe(1);
			if (looks === 5) {
				second.pod.healthy = true;
				third.pod.healthy = false;
			}
			if (looks === 10) run.timeout.abort();
		};
		const by = `shop/${third.pod.name} in ${third.member.name}`;
		const waits = "budget shop/db needs 5 healthy, has 5; used by";
		expect(await run.evictions.evict(run.job(first.member, first.pod))).toMatchObject({
			kind: "failed",
			waitedFor: `${waits} ${by}: not ready`,
			message: expect.stringContaining(`global timeout reached: 9s: ${waits} ${by}`),
		});
		const told = run.events.filter((event) => event.type === "pod.waiting");
		expect(told.map(({ usedBy }) => usedBy)).toMatchObject([
			[{ cluster: second.member.name, pod: second.pod.name }],
			[{ cluster: third.member.name, pod: third.pod.name }],
		]);
	});

	test("say for the progress what they wait for", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		first.pod.healthy = false;
		const run = newRun(fleet);
		first.member.onLook = () => {
			if (first.member.looks < 3) return;
			expect(run.evictions.counts.waits).toMatchObject([
				{ pods: 5, reason: "BudgetExhausted", budget: "shop/db", usedBy: [{ cluster: first.member.name }] },
			]);
			run.stop.abort();
		};
		await Promise.all(pods.slice(1).map(({ member, pod }) => run.evictions.evict(run.job(member, pod))));
		expect(first.member.looks).toBe(3);
		expect(run.evictions.counts.waits).toEqual([]);
	});
});
