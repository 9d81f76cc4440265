import { describe, expect, test } from "vitest";
import { type RoundOutcome, type RoundRequest, runRound } from "../../disruption/round.ts";
import { budget, podReference, presentPod, selector } from "../support/build-count.ts";
import { createManualRuntime } from "./manual-runtime.ts";
import { ScriptedCluster } from "./scripted-cluster.ts";

const candidates = [presentPod("db-0"), presentPod("db-1")];

/** A fleet of "eu", where the candidates are, and "us", which write no holds; at most one of the six pods may be down. */
function setUp() {
	const calls: string[] = [];
	const eu = new ScriptedCluster("eu", calls, { candidates });
	const us = new ScriptedCluster("us", calls);
	for (const cluster of [eu, us]) cluster.leavesUnwritten = true;
	const runtime = createManualRuntime();
	const run = (request: Partial<RoundRequest> = {}) =>
		runRound(
			{
				clusters: [eu, us],
				budgets: [{ name: budget, selector }],
				holder: "drain-7f",
				candidates: [{ clusterId: "eu", pod: podReference("db-0") }],
				signal: new AbortController().signal,
				...request,
			},
			runtime,
		);
	return { calls, eu, us, runtime, run };
}

function kinds(outcome: RoundOutcome): readonly string[] {
	if (outcome.kind === "lost") return ["lost"];
	return outcome.verdicts.map((verdict) => ("reason" in verdict ? `${verdict.kind} ${verdict.reason}` : verdict.kind));
}

describe("a round whose holds are not written", () => {
	test("commits in every cluster, and has nothing to give back where nothing is granted", async () => {
		const { run, calls, eu, us } = setUp();
		expect(kinds(await run())).toEqual(["granted"]);
		expect([eu.lease(budget), us.lease(budget)].map(({ state }) => state.phase)).toEqual(["committed", "committed"]);
		calls.length = 0;
		eu.counted = { ...eu.counted, healthy: 2 };
		expect(kinds(await run())).toEqual(["waiting BudgetExhausted"]);
		expect(calls).toEqual(["eu acquire", "us acquire"]);
	});

	test("is lost as a whole where somebody came in between in one cluster", async () => {
		const { run, eu, us } = setUp();
		us.before.commit = () => {
			delete us.before.commit;
			us.steal(budget);
			us.change(budget, (lease) => ({ ...lease, holder: "", state: { ...lease.state, phase: "released" } }));
		};
		expect(kinds(await run())).toEqual(["lost"]);
		for (const cluster of [eu, us])
			expect(cluster.lease(budget)).toMatchObject({ holder: "", state: { reservations: [] } });
	});

	test("acquires anew what grew old while another member took its time", async () => {
		const { run, calls, eu, us, runtime } = setUp();
		const slow = Promise.withResolvers<void>();
		us.after.acquire = () => slow.promise;
		const running = run();
		await runtime.advance(1_500);
		slow.resolve();
		expect(kinds(await running)).toEqual(["granted"]);
		expect(calls).toEqual(["eu acquire", "us acquire", "eu acquire", "us commit", "eu commit 1"]);
		expect(eu.lease(budget).transitions).toBe(1);
	});

	test("is lost where somebody else took what grew old", async () => {
		const { run, eu, us, runtime } = setUp();
		const slow = Promise.withResolvers<void>();
		us.after.acquire = () => slow.promise;
		const running = run();
		await runtime.advance(1_500);
		eu.steal(budget);
		slow.resolve();
		expect(await running).toEqual({
			kind: "lost",
			reason: 'Lease of budget "shop/db" in cluster "eu-1" was taken by "thief"',
		});
		expect(us.lease(budget).transitions).toBe(0);
	});

	test("does not renew, and asks for a hold that is written once it waits in line", async () => {
		const { run, calls, eu } = setUp();
		const thief = eu.steal(budget);
		const running = run({ onQueued: () => void eu.release(thief) });
		expect(kinds(await running)).toEqual(["granted"]);
		expect(calls.filter((call) => call.includes("in line"))).toEqual(["eu acquire in line", "us acquire in line"]);
	});
});
