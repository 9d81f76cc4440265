import { LeaseLostError } from "../../disruption/errors.ts";
import { describe, expect, test } from "vitest";
import { budget } from "../support/build-count.ts";
import { kinds, setUpRound } from "./round-fleet.ts";

function setUp() {
	const round = setUpRound();
	for (const cluster of [round.eu, round.us]) cluster.leavesUnwritten = true;
	return round;
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
		await expect(run()).rejects.toBeInstanceOf(LeaseLostError);
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
		const again = ["eu acquire", "us acquire"];
		// Both are asked again: even the late answer may be as old as its request.
		expect(calls).toEqual(["eu acquire", "us acquire", ...again, "eu commit 1", "us commit"]);
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
		await expect(running).rejects.toThrow(
			new LeaseLostError('Lease of budget "shop/db" in cluster "eu-1" was taken by "thief"'),
		);
		expect(us.lease(budget).transitions).toBe(0);
	});

	test("does not renew, and asks for a hold that is written once it waits in line", async () => {
		const { run, calls, eu } = setUp();
		const thief = eu.steal(budget);
		const running = run({ observer: { queued: () => void eu.release(thief) } });
		expect(kinds(await running)).toEqual(["granted"]);
		expect(calls.filter((call) => call.includes("in line"))).toEqual(["eu acquire in line", "us acquire in line"]);
	});
});
