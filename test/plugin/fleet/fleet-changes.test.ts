// Tests members that join and leave during a run.
import { describe, expect, test } from "vitest";
import { AgentForbiddenError, AgentProtocolError } from "../../../disruption/errors.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

const tight = { name: { namespace: "shop", name: "new" }, spec: { selector: {}, maxUnavailable: 0 } };

function newFleet() {
	const fleet = new FakeFleet(["eu", "us"]);
	const eu = fleet.member("eu");
	const pod = eu.addPod("db-0");
	const run = newRun(fleet);
	const told = (): readonly string[] =>
		run.events.flatMap((event) => (event.type === "diagnostic" ? [event.message] : []));
	return { fleet, eu, pod, run, told };
}

describe("a member that is added in mid-run", () => {
	test("has its budgets obeyed by pods that nothing covered before", async () => {
		const { fleet, eu, pod, run, told } = newFleet();
		fleet.declare("ap").ownBudgets.push(tight);
		const outcome = run.evictions.evict(run.job(eu, pod));
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		run.stop.abort();
		await outcome;
		expect(fleet.evictions).toEqual([]);
		expect(told()).toEqual(["the fleet has changed: ap was added; going on with eu, us, ap"]);
	});

	test("lets covered pods go on, with its Leases taken too", async () => {
		const { fleet, eu, pod, run, told } = newFleet();
		fleet.addBudget("db", { maxUnavailable: 1 });
		const next = eu.addPod("db-1");
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
		eu.expected -= 1;
		const ap = fleet.declare("ap");
		expect(await run.evictions.evict(run.job(eu, next))).toEqual({ kind: "evicted" });
		expect(ap.rounds).toBe(1);
		expect(fleet.evictions.map(({ reserved }) => reserved)).toEqual([true, true]);
		expect(told()).toHaveLength(1);
	});

	test("is waited for where it gives no answer", async () => {
		const { fleet, eu, pod, run } = newFleet();
		const ap = fleet.declare("ap");
		ap.isDown = true;
		const outcome = run.evictions.evict(run.job(eu, pod));
		await expect.poll(() => run.events.some(({ type }) => type === "cluster.unreachable")).toBe(true);
		expect(fleet.evictions).toEqual([]);
		run.timeout.abort();
		expect(await outcome).toMatchObject({ kind: "failed", reason: "PeerUnreachable", unreachable: true });
	});
});

describe("a member that is removed in mid-run", () => {
	test("is not asked any more, and does not hold the others up", async () => {
		const { fleet, eu, pod, run, told } = newFleet();
		fleet.addBudget("db", { maxUnavailable: 1 });
		eu.addPod("db-1");
		const us = fleet.member("us");
		fleet.declared = [eu];
		// Agents of other members give this answer for a member that was removed.
		const gone = async (): Promise<never> => {
			throw new AgentProtocolError('cannot reach cluster id "id-us": its fleet is eu');
		};
		us.listBudgets = gone;
		us.acquire = gone;
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
		expect(told()).toEqual(["the fleet has changed: us was removed; going on with eu"]);
	});

	test("keeps its pods where the run has a context of it", async () => {
		const { fleet, eu, run } = newFleet();
		const us = fleet.member("us");
		const [first, second] = [us.addPod("web-0"), us.addPod("web-1")];
		expect(await run.evictions.evict(run.job(us, first))).toEqual({ kind: "evicted" });
		fleet.declared = [eu];
		await fleet.reconnect();
		const outcome = run.evictions.evict(run.job(us, second));
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		run.stop.abort();
		await outcome;
		expect(fleet.evictions.map(({ pod }) => pod)).toEqual(["web-0"]);
	});
});

describe("members that disagree", () => {
	for (const covered of [true, false]) {
		test(`stop ${covered ? "covered" : "uncovered"} pods by name, and go on when they agree`, async () => {
			const { fleet, eu, pod, run, told } = newFleet();
			if (covered) fleet.addBudget("db", { maxUnavailable: 1 });
			const us = fleet.member("us");
			us.otherHash = "of another fleet";
			const outcome = run.evictions.evict(run.job(eu, pod));
			const waits = () => run.events.filter((event) => event.type === "pod.waiting" && event.reason === "FleetsDiffer");
			await expect.poll(() => waits().length).toBeGreaterThan(3);
			expect(waits()[0]).toMatchObject({ message: "us: declares another fleet" });
			expect(fleet.evictions).toEqual([]);
			us.otherHash = undefined;
			expect(await outcome).toEqual({ kind: "evicted" });
			expect(told()).toEqual([]);
		});
	}

	test("are named where they agree and answer otherwise all the same", async () => {
		const { fleet, eu, pod, run } = newFleet();
		const list = fleet.listBudgets.bind(fleet);
		fleet.listBudgets = async (namespaces) =>
			(await list(namespaces)).map((member) => ({
				...member,
				fleetHash: member.clusterName === "us" ? "x" : member.fleetHash,
			}));
		const outcome = run.evictions.evict(run.job(eu, pod));
		const waits = () => run.events.filter((event) => event.type === "pod.waiting" && event.reason === "FleetsDiffer");
		await expect.poll(() => waits().length).toBeGreaterThan(2);
		expect(waits()[0]).toMatchObject({ message: expect.stringContaining("cluster us declares another fleet") });
		expect(fleet.lists).toBeLessThanOrEqual(run.runtime.now() / 1_000 + 2);
		run.stop.abort();
		await outcome;
		expect(fleet.evictions).toEqual([]);
	});

	test("fail a pod where an agent lets nobody ask", async () => {
		const { fleet, eu, pod, run } = newFleet();
		const forbidden = async (): Promise<never> => {
			throw new AgentForbiddenError("who are you");
		};
		fleet.listBudgets = forbidden;
		fleet.reconnect = forbidden;
		expect(await run.evictions.evict(run.job(eu, pod))).toMatchObject({ kind: "failed", reason: "AgentRefused" });
		expect(fleet.evictions).toEqual([]);
	});

	test("are asked once a second", async () => {
		const { fleet, eu, pod, run } = newFleet();
		fleet.member("us").otherHash = "of another fleet";
		const pods = [pod, ...Array.from({ length: 9 }, (_, index) => eu.addPod(`web-${index}`))];
		const outcomes = pods.map((each) => run.evictions.evict(run.job(eu, each)));
		await expect.poll(() => run.runtime.now()).toBeGreaterThan(20_000);
		// Only waiting pods move the clock here, each on its own.
		expect(fleet.reconnects).toBeLessThanOrEqual(run.runtime.now() / 1_000 + pods.length);
		run.stop.abort();
		await Promise.all(outcomes);
	});
});
