import { afterEach, describe, expect, test } from "vitest";
import { PeriodicWork } from "../../../agent/process/periodic-work.ts";
import { leaseName } from "../../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../../disruption/lease/lease-text.ts";
import type { BudgetsUpdate } from "../../../proto/agent-cluster.ts";
import { budget, memberBudget, newSpec } from "../../support/build-count.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { asks, atOnce, settle, simulateCluster } from "../../support/simulated-agent.ts";

const ends: (() => void)[] = [];
afterEach(() => {
	for (const end of ends.splice(0)) end();
});

/** Starts with two healthy pods of budget shop/db, 20 s before the next full minute. */
function begun() {
	const manual = createManualClock();
	let ahead = 0;
	const clock = { ...manual, wallSeconds: () => manual.wallSeconds() + ahead };
	const cluster = simulateCluster({ clock });
	const pods = ["db-0", "db-1"].map((name) => cluster.newPod(name));
	const agent = cluster.newAgent();
	agent.see();
	cluster.clock.advance(40_000);
	const { histories } = agent;
	const periodic = new PeriodicWork({ clock, report: (problem) => expect.fail(String(problem)) });
	periodic.begin(histories.job);
	ends.push(() => periodic.close());
	const pass = async (seconds: number): Promise<void> => {
		for (let passed = 0; passed < seconds; passed += 1) {
			agent.live();
			cluster.clock.advance(1_000);
			await settle();
		}
	};
	const told = () => histories.all(() => true);
	const samples = () => told().map(({ healthy }) => healthy.map((each) => each ?? "?").join(" "));
	const setAhead = (seconds: number): void => {
		ahead = seconds;
	};
	return { ...cluster, agent, pods, pass, told, samples, setAhead };
}

describe("BudgetHistories", () => {
	test("look at even minutes of the wall clock, and ask the API server for nothing", async () => {
		const { server, agent, pods, pass, told, samples } = begun();
		const before = agent.requests.length;
		expect(told()).toEqual([]);
		await pass(20);
		expect(told()).toEqual([{ budget, lastAt: 60, everySeconds: 60, healthy: [2] }]);
		server.changePod(pods[0] as (typeof pods)[0], { ready: false });
		agent.see();
		await pass(59);
		expect(samples()).toEqual(["2"]);
		await pass(1);
		expect(samples()).toEqual(["2 1"]);
		expect(agent.requests.length).toBe(before);
	});

	test("keep the last hour, and no more", async () => {
		const { agent, newPod, pass, told } = begun();
		await pass(20 + 60);
		newPod("db-2");
		agent.see();
		await pass(59 * 60);
		expect(told()[0]?.healthy).toEqual([2, ...Array.from({ length: 59 }, () => 3)]);
		await pass(60);
		expect(told()).toMatchObject([{ lastAt: 62 * 60, healthy: Array.from({ length: 60 }, () => 3) }]);
	});

	test("leave a gap where a watch was not alive, and where the process slept over the minute", async () => {
		const { agent, clock, pass, samples, setAhead } = begun();
		await pass(20);
		clock.advance(60_000);
		await settle();
		await pass(60);
		expect(samples()).toEqual(["2 ? 2"]);
		// The timer runs 7 s late.
		await pass(53);
		agent.live();
		setAhead(7);
		await pass(7);
		expect(samples()).toEqual(["2 ? 2 ?"]);
	});

	test("begin anew with another selector and after the budget was gone, and go on where only its bound is another", async () => {
		const { server, agent, pass, samples } = begun();
		await pass(20);
		const change = async (spec: object | undefined): Promise<void> => {
			if (spec) server.putBudget(memberBudget(newSpec({ maxUnavailable: 1, ...spec })));
			else server.deleteBudget(budget);
			agent.see();
			await pass(60);
		};
		await change({ maxUnavailable: 2 });
		expect(samples()).toEqual(["2 2"]);
		await change({ selector: { matchLabels: { app: "other" } } });
		expect(samples()).toEqual(["0"]);
		await change(undefined);
		expect(samples()).toEqual([]);
		await change({});
		expect(samples()).toEqual(["2"]);
	});

	test("count as every count does: what is reserved is not healthy", async () => {
		const { agent, pods, pass, samples } = begun();
		const first = await agent.local.acquireHere(asks("first"), atOnce());
		if (first.kind !== "acquired") throw new Error("the Lease is free");
		const [pod] = pods;
		if (!pod) throw new Error("there are pods");
		await agent.local.commit(first.acquisition, [{ id: "grant-1", pod, resourceVersion: pod.resourceVersion }]);
		agent.see();
		await pass(20);
		expect(samples()).toEqual(["1"]);
	});

	test("know nothing of a budget whose selector cannot be read, and have a gap where its Lease cannot", async () => {
		const { server, agent, pass, samples } = begun();
		server.putBudget({ ...memberBudget({ maxUnavailable: 1 }), name: { namespace: "shop", name: "odd" } });
		await agent.local.acquireHere(asks("first"), atOnce());
		agent.see();
		await pass(20);
		expect(samples()).toEqual(["2"]);
		const lease = server.leases.get(leaseName(budget));
		if (!lease) throw new Error("no Lease");
		server.updateLease({ ...lease, annotations: { ...lease.annotations, [stateAnnotation]: "{" } });
		agent.see();
		await pass(60);
		expect(samples()).toEqual(["2 ?"]);
	});

	test("end the hour that they know where the clock is set back", async () => {
		const { pass, told, setAhead } = begun();
		await pass(20 + 120);
		expect(told()[0]?.healthy).toHaveLength(3);
		setAhead(-120);
		await pass(60);
		expect(told()).toMatchObject([{ lastAt: 120, healthy: [2] }]);
	});

	test("are told to whoever watches: at the beginning, and after each look", async () => {
		const { agent, clock, pass } = begun();
		await pass(20);
		const updates: BudgetsUpdate[] = [];
		const end = new AbortController();
		ends.push(() => end.abort(new Error("the test is over")));
		agent.local
			.watchBudgets(["shop"], { signal: end.signal, onUpdate: (update) => void updates.push(update) })
			.catch(() => undefined);
		const other: BudgetsUpdate[] = [];
		agent.local
			.watchBudgets(["other"], { signal: end.signal, onUpdate: (update) => void other.push(update) })
			.catch(() => undefined);
		await settle();
		const told = (from: readonly BudgetsUpdate[]) => from.flatMap(({ histories = [] }) => histories);
		expect(told(updates).at(-1)).toEqual({ budget, lastAt: 60, everySeconds: 60, healthy: [2] });
		clock.advance(1_000);
		await settle();
		await pass(59);
		expect(told(updates).at(-1)).toEqual({ budget, lastAt: 120, everySeconds: 60, healthy: [2, 2] });
		expect(told(other)).toEqual([]);
	});
});
