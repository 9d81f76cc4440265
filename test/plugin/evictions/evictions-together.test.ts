import { describe, expect, test } from "vitest";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

function setUp(count: number) {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("db", { maxUnavailable: "100%" });
	const [eu] = fleet.members;
	if (!eu) throw new Error("no members");
	const pods = Array.from({ length: count }, (_, index) => eu.addPod(`db-${index}`));
	const run = newRun(fleet);
	const evictAll = () => Promise.all(pods.map((pod) => run.evictions.evict(run.job(eu, pod))));
	return { fleet, eu, pods, run, evictAll };
}

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

	test("of one cluster are on their way 100 at a time, and 12 more are granted meanwhile", async () => {
		const { fleet, eu, evictAll } = setUp(260);
		let granted = 0;
		fleet.onEviction = () => {
			granted = Math.max(granted, eu.reservations.size);
		};
		const outcomes = await evictAll();
		expect(outcomes.map(({ kind }) => kind)).toEqual(Array(260).fill("evicted"));
		expect(granted).toBeGreaterThan(100);
		expect(granted).toBeLessThanOrEqual(112);
	});

	test("of one cluster do not hold up those of another while all their places are taken", async () => {
		const { fleet, eu, run, evictAll } = setUp(200);
		const us = fleet.member("us");
		const pod = us.addPod("db-0");
		const { promise, resolve } = Promise.withResolvers<void>();
		eu.slow = promise;
		const outcomes = evictAll();
		await expect.poll(() => eu.reservations.size).toBe(112);
		await run.runtime.sleep(0, new AbortController().signal);
		const other = run.evictions.evict(run.job(us, pod));
		await expect.poll(() => fleet.evictions.length).toBe(1);
		expect(await other).toEqual({ kind: "evicted" });
		resolve();
		expect((await outcomes).every(({ kind }) => kind === "evicted")).toBe(true);
	});

	test("of one cluster do not keep those of another from their next try either", async () => {
		const { fleet, eu, run, evictAll } = setUp(200);
		const us = fleet.member("us");
		const pod = us.addPod("db-0");
		const { promise, resolve } = Promise.withResolvers<void>();
		eu.slow = promise;
		const outcomes = evictAll();
		await expect.poll(() => eu.reservations.size).toBe(112);
		us.isGarbled = true;
		const other = run.evictions.evict(run.job(us, pod));
		const isLater = (): boolean =>
			run.events.some((event) => event.type === "pod.waiting" && event.pod === "db-0" && event.context === "us");
		await expect.poll(isLater).toBe(true);
		us.isGarbled = false;
		expect(await other).toEqual({ kind: "evicted" });
		resolve();
		expect((await outcomes).every(({ kind }) => kind === "evicted")).toBe(true);
	});

	test("are told of what was counted where it has changed", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 1 });
		const [eu, us] = fleet.members;
		if (!eu || !us) throw new Error("no members");
		const first = eu.addPod("db-0");
		us.addPod("db-0");
		const run = newRun(fleet);
		await run.evictions.evict(run.job(eu, first));
		const changes = run.events.filter(({ type }) => type === "budget.changed");
		expect(changes).toEqual([
			{
				type: "budget.changed",
				budget: expect.stringMatching(/\/db$/),
				healthy: 2,
				need: 1,
				expected: 2,
				left: 1,
				clusters: [
					{ name: "eu", healthy: 1, expected: 1 },
					{ name: "us", healthy: 1, expected: 1 },
				],
			},
		]);
	});

	test("are told of the next count after a grant even where it is the same again: what was taken is back", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 1 });
		const [eu, us] = fleet.members;
		if (!eu || !us) throw new Error("no members");
		const first = eu.addPod("db-0");
		const second = us.addPod("db-0");
		const run = newRun(fleet);
		await run.evictions.evict(run.job(eu, first));
		eu.addPod("db-0");
		eu.expected = 1;
		await run.evictions.evict(run.job(us, second));
		const counts = run.events.flatMap((event) => (event.type === "budget.changed" ? [event.healthy] : []));
		expect(counts).toEqual([2, 2]);
	});

	test("that were granted and are not on their way yet are given back by a stop", async () => {
		const { fleet, eu, pods, run, evictAll } = setUp(120);
		// By the first eviction, a whole round of pods has been granted.
		fleet.onEviction = () => run.stop.abort();
		const outcomes = await evictAll();
		await run.evictions.settled();
		expect(outcomes.map(({ kind }) => kind)).toEqual(["evicted", ...Array(119).fill("stopped")]);
		expect(fleet.evictions).toHaveLength(1);
		expect(pods.slice(1).filter(({ uid }) => eu.reservations.has(uid))).toEqual([]);
	});

	test("that wait for their turn are given back by a stop", async () => {
		const { fleet, eu, pods, run, evictAll } = setUp(120);
		let sent = 0;
		fleet.onEviction = () => {
			sent += 1;
			if (sent === 100) run.stop.abort();
		};
		const outcomes = await evictAll();
		await run.evictions.settled();
		expect(outcomes.filter(({ kind }) => kind === "evicted")).toHaveLength(100);
		expect(outcomes.filter(({ kind }) => kind === "stopped")).toHaveLength(20);
		expect(fleet.evictions).toHaveLength(100);
		expect(pods.slice(100).filter(({ uid }) => eu.reservations.has(uid))).toEqual([]);
	});

	test("are not asked for while the run is paused, and what was granted is given back and asked for again", async () => {
		const { fleet, eu, run, evictAll } = setUp(200);
		const { promise, resolve } = Promise.withResolvers<void>();
		eu.slow = promise;
		const outcomes = evictAll();
		await expect.poll(() => eu.reservations.size).toBe(112);
		run.evictions.pause();
		run.evictions.pause();
		resolve();
		await expect.poll(() => eu.reservations.size).toBe(0);
		// These evictions had already been sent.
		expect(fleet.evictions).toHaveLength(100);
		await run.runtime.sleep(60_000, new AbortController().signal);
		expect(fleet.evictions).toHaveLength(100);
		run.evictions.resume();
		expect((await outcomes).every(({ kind }) => kind === "evicted")).toBe(true);
		expect(fleet.evictions).toHaveLength(200);
		const told = run.events.filter(({ type }) => type === "paused" || type === "resumed");
		expect(told).toMatchObject([{ type: "paused" }, { type: "resumed" }]);
	});

	test("end at a stop also while the run is paused, and those without a budget wait too", async () => {
		const { fleet, eu, run } = setUp(0);
		fleet.budgets.length = 0;
		run.evictions.pause();
		const outcome = run.evictions.evict(run.job(eu, eu.addPod("web-0")));
		await run.runtime.sleep(0, new AbortController().signal);
		expect(fleet.evictions).toEqual([]);
		run.stop.abort();
		expect(await outcome).toEqual({ kind: "stopped" });
		expect(fleet.evictions).toEqual([]);
	});
});
