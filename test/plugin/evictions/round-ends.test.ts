// Tests rounds that no pod waits for any more, and rounds that never begin.
import { describe, expect, test } from "vitest";
import { runRound } from "../../../disruption/round/round.ts";
import { newRun } from "../../support/eviction-run.ts";
import { newDatabase } from "./new-database.ts";

describe("a timeout", () => {
	test("ends the round that waits in line, where nobody else waits for it", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		const inLine = Promise.withResolvers<AbortSignal>();
		const run = newRun(fleet, {
			// Another run holds the Lease and never releases it.
			runRound: ({ signal }) =>
				new Promise((_resolve, reject) => {
					signal.addEventListener("abort", () => reject(signal.reason));
					inLine.resolve(signal);
				}),
		});
		const outcome = run.evictions.evict(run.job(first.member, first.pod));
		const signal = await inLine.promise;
		run.timeout.abort();
		expect(await outcome).toMatchObject({ kind: "failed" });
		await run.evictions.settled();
		expect([signal.aborted, run.stop.signal.aborted]).toEqual([true, false]);
		expect(fleet.evictions).toEqual([]);
	});

	test("of one pod leaves the round to the others", async () => {
		const { fleet, pods } = newDatabase();
		const [first, second] = pods;
		if (!first || !second) throw new Error("no pods");
		const begun = Promise.withResolvers<AbortSignal>();
		const go = Promise.withResolvers<void>();
		const run = newRun(fleet, {
			async runRound(request, runtime) {
				begun.resolve(request.signal);
				await go.promise;
				return runRound(request, runtime);
			},
		});
		const own = new AbortController();
		const early = { ...run.job(first.member, first.pod), timeout: { signal: own.signal, text: "1s" } };
		const outcomes = [run.evictions.evict(early), run.evictions.evict(run.job(second.member, second.pod))];
		const signal = await begun.promise;
		own.abort();
		expect(await outcomes[0]).toMatchObject({ kind: "failed" });
		expect(signal.aborted).toBe(false);
		go.resolve();
		expect(await outcomes[1]).toEqual({ kind: "evicted" });
	});
});

test("a pod that thousands of budgets cover is refused, without a round for each", async () => {
	const { fleet, pods } = newDatabase();
	const [first] = pods;
	if (!first) throw new Error("no pods");
	for (let index = 0; index < 100; index++) fleet.addBudget(`made-up-${index}`, { maxUnavailable: 1 });
	const run = newRun(fleet);
	expect(await run.evictions.evict(run.job(first.member, first.pod))).toMatchObject({
		kind: "failed",
		reason: "InvalidBudget",
		message: expect.stringContaining("101 budgets cover the pod, more than the 64"),
	});
	expect(fleet.member("ap").rounds).toBe(0);
});
