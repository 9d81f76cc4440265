import { describe, expect, test, vi } from "vitest";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { AgentUnavailableError, LeaseLostError } from "../../disruption/errors.ts";
import { acquisitionOf, leaseName, released } from "../../disruption/lease/lease.ts";
import type { RoundRequest } from "../../disruption/round/acquire-leases.ts";
import { runRound } from "../../disruption/round/round.ts";
import { budget, newCount, podReference, presentPod, selector } from "../support/build-count.ts";
import { createManualRuntime, settle } from "./manual-runtime.ts";
import { ScriptedCluster } from "./scripted-cluster.ts";

const members = ["ap", "eu", "us"];

function setUp() {
	const calls: string[] = [];
	const [ap, eu, us] = ["ap", "eu", "us"].map(
		(id) =>
			new ScriptedCluster(id, calls, newCount(id, { candidates: id === "eu" ? [presentPod("db-0")] : [] }, members)),
	) as [ScriptedCluster, ScriptedCluster, ScriptedCluster];
	const runtime = createManualRuntime();
	const queued: string[] = [];
	const run = (request: Partial<RoundRequest> = {}) =>
		runRound(
			{
				clusters: [us, ap, eu],
				budgets: [{ name: budget, selector }],
				holder: "drain-7f",
				candidates: [{ clusterId: "eu", pod: podReference("db-0") }],
				signal: new AbortController().signal,
				observer: {
					queued: ({ cluster, budget: { name }, position, holder }) =>
						void queued.push(`${cluster} ${name} ${position} ${holder}`),
				},
				...request,
			},
			runtime,
		);
	const renewals = (id: string) => calls.filter((call) => call === `${id} renew`).length;
	return { calls, ap, eu, us, runtime, run, queued, renewals };
}

const free = (cluster: ScriptedCluster, name: BudgetName = budget) => cluster.change(name, released);

describe("runRound() where somebody holds a Lease", () => {
	test("gives back what it got at once, then queues in the one order that everyone keeps", async () => {
		const { run, us, calls } = setUp();
		us.steal(budget);
		const round = run();
		await settle();
		expect(calls).toEqual([
			"ap acquire",
			"eu acquire",
			"us acquire",
			"ap release",
			"eu release",
			"ap acquire in line",
			"eu acquire in line",
			"us acquire in line",
		]);
		free(us);
		expect(await round).toMatchObject([{ kind: "granted" }]);
	});

	test("queues at once where the last round had to, and takes nothing out of its turn", async () => {
		const { run, ap, calls } = setUp();
		ap.steal(budget);
		const round = run({ contended: true });
		await settle();
		expect(calls).toEqual(["ap acquire in line"]);
		free(ap);
		expect(await round).toMatchObject([{ kind: "granted" }]);
		expect(calls.slice(0, 3)).toEqual(["ap acquire in line", "eu acquire in line", "us acquire in line"]);
	});

	test("waits at the first cluster before it takes anything at a later one", async () => {
		const { run, ap, eu, us } = setUp();
		ap.steal(budget);
		const round = run();
		await settle();
		expect([eu, us].map((cluster) => cluster.lease(budget).holder)).toEqual(["", ""]);
		free(ap);
		await round;
	});

	test("queues for several budgets by cluster first, then by the Lease's name", async () => {
		const { run, ap, eu, us, calls } = setUp();
		const zone: BudgetName = { namespace: "shop", name: "zone-a" };
		ap.steal(zone);
		const asked: string[] = [];
		for (const cluster of [ap, eu, us]) {
			const acquire = cluster.acquire.bind(cluster);
			cluster.acquire = (request, options) => {
				if (options.wait) asked.push(`${cluster.id} ${leaseName(request.budget)}`);
				return acquire(request, options);
			};
		}
		const round = run({ budgets: [zone, budget].map((name) => ({ name, selector })) });
		await settle();
		free(ap, zone);
		await round;
		expect(asked).toHaveLength(6);
		expect(asked).toEqual(asked.toSorted());
		expect(calls.filter((call) => call.endsWith("in line"))).toHaveLength(6);
	});

	test("says where it waits, for what, at which place and behind whom", async () => {
		const { run, us, queued } = setUp();
		us.steal(budget, "drain-8a");
		const round = run();
		await settle();
		expect(queued).toEqual(["us-1 db 1 drain-8a"]);
		free(us);
		await round;
	});

	test("asks with a new nonce each time: a late answer to the first must not be taken for the second", async () => {
		const { run, us } = setUp();
		const nonces: string[] = [];
		const acquire = us.acquire.bind(us);
		us.acquire = (request, options) => {
			nonces.push(request.nonce);
			return acquire(request, options);
		};
		us.steal(budget);
		const round = run();
		await settle();
		free(us);
		await round;
		expect(new Set(nonces).size).toBe(2);
	});

	test("fails where an agent does not keep the line, and names it", async () => {
		const { run, ap, eu, us } = setUp();
		us.steal(budget);
		us.acquire = async () => ({ kind: "held", position: 1, holder: "thief", heldForMs: 0 });
		await expect(run()).rejects.toThrow(
			"cannot wait for budget shop/db: the agent of cluster us-1 ended the wait without granting the lease",
		);
		expect([ap, eu].map((cluster) => cluster.lease(budget).holder)).toEqual(["", ""]);
	});
});

describe("runRound() while it waits", () => {
	test("keeps alive what it holds, every three seconds", async () => {
		const { run, us, runtime, renewals } = setUp();
		us.steal(budget);
		const round = run();
		await settle();
		await runtime.advance(13_000);
		expect([renewals("ap"), renewals("eu"), renewals("us")]).toEqual([4, 4, 0]);
		free(us);
		await round;
	});

	test("renews a Lease that was handed over within its two seconds", async () => {
		const { run, ap, us, runtime, renewals } = setUp();
		ap.steal(budget);
		us.steal(budget);
		const round = run();
		await settle();
		free(ap);
		await settle();
		expect(ap.lease(budget)).toMatchObject({ holder: "drain-7f", durationMs: 2_000 });
		await runtime.advance(1_500);
		expect(renewals("ap")).toBe(1);
		free(us);
		await round;
	});

	test("renews one that was handed over also while another renewal hangs", async () => {
		const { run, ap, eu, us, runtime, renewals } = setUp();
		ap.before.renew = () => new Promise(() => undefined);
		ap.steal(budget);
		eu.steal(budget);
		us.steal(budget);
		void run();
		await settle();
		free(ap);
		await runtime.advance(1_500);
		expect(renewals("ap")).toBe(1);
		free(eu);
		await runtime.advance(1_900);
		expect([renewals("ap"), renewals("eu")]).toEqual([1, 1]);
	});

	test("renews nothing any more once it has an answer", async () => {
		const { run, us, runtime, renewals } = setUp();
		us.steal(budget);
		const round = run();
		await settle();
		free(us);
		await round;
		await runtime.advance(10_000);
		expect(renewals("ap") + renewals("eu") + renewals("us")).toBe(0);
	});

	test("starts over where it loses a Lease meanwhile, and leaves the line", async () => {
		const { run, ap, eu, us, runtime } = setUp();
		us.steal(budget);
		const round = run();
		await settle();
		const lost = round.catch((error: unknown) => error);
		ap.steal(budget, "another thief");
		await runtime.advance(4_000);
		expect(await lost).toEqual(new LeaseLostError('Lease in cluster "ap-1" was lost'));
		expect([ap, eu, us].map((cluster) => cluster.lease(budget).holder)).toEqual(["another thief", "", "thief"]);
		free(us);
		expect(us.lease(budget).holder).toBe("");
	});

	test("starts over also where the call that waits ends in another error", async () => {
		const { run, ap, us, runtime } = setUp();
		us.steal(budget);
		const acquire = us.acquire.bind(us);
		us.acquire = (request, options) =>
			acquire(request, options).catch(() => {
				throw new AgentUnavailableError("Call was cancelled", "us-1");
			});
		const round = run();
		await settle();
		const lost = round.catch((error: unknown) => error);
		ap.steal(budget, "another thief");
		await runtime.advance(4_000);
		expect(await lost).toBeInstanceOf(LeaseLostError);
	});

	test("goes on where a renewal gets no answer, and says so", async () => {
		const { run, ap, us, runtime } = setUp();
		us.steal(budget);
		const round = run();
		await settle();
		ap.before.renew = () => {
			delete ap.before.renew;
			throw new AgentUnavailableError("cannot reach the agent of ap-1", "ap-1");
		};
		await runtime.advance(5_000);
		expect(runtime.leftBehind).toMatchObject([{ cluster: "ap-1" }]);
		expect(ap.lease(budget).state.renewals).toBeGreaterThan(0);
		free(us);
		expect(await round).toMatchObject([{ kind: "granted" }]);
	});

	test("does not take its own release for a loss", async () => {
		const { run, eu, us, runtime } = setUp();
		us.steal(budget);
		// The renewal is under way when the first pass gives everything back.
		const slow = Promise.withResolvers<void>();
		const renewal = Promise.withResolvers<void>();
		us.before.acquire = () => slow.promise;
		eu.before.renew = () => renewal.promise;
		const round = run();
		await runtime.advance(4_000);
		delete eu.before.renew;
		delete us.before.acquire;
		slow.resolve();
		await settle();
		renewal.resolve();
		await settle();
		free(us);
		expect(await round).toMatchObject([{ kind: "granted" }]);
	});

	test("leaves the line and gives back when it is aborted", async () => {
		const { run, ap, eu, us } = setUp();
		us.steal(budget);
		const abort = new AbortController();
		const round = run({ signal: abort.signal });
		await settle();
		abort.abort(new Error("Interrupted"));
		await expect(round).rejects.toThrow("Interrupted");
		expect([ap, eu].map((cluster) => cluster.lease(budget).holder)).toEqual(["", ""]);
		free(us);
		await settle();
		expect(us.lease(budget).holder).toBe("");
	});
});

describe("runRound() with counts that have grown old", () => {
	test("counts again what is older than a second when the last Lease was got", async () => {
		const { run, ap, us, runtime, calls } = setUp();
		us.steal(budget);
		const round = run();
		await settle();
		await runtime.advance(1_500);
		// One of ap's pods has failed since. Its first count would allow one eviction too many.
		ap.counted = { ...ap.counted, healthy: 2 };
		free(us);
		expect(await round).toMatchObject([{ kind: "waiting", reason: "BudgetExhausted" }]);
		// The member that came last is counted again too, because the moment of its first count is unknown.
		expect(calls.filter((call) => call.endsWith("count"))).toEqual(["ap count", "eu count", "us count"]);
	});

	test("commits what was counted again under the id of that count", async () => {
		const { run, ap, eu, us, runtime } = setUp();
		const asked = [ap, eu, us].map((each) => ({ count: vi.spyOn(each, "count"), commit: vi.spyOn(each, "commit") }));
		us.steal(budget);
		const round = run();
		await settle();
		await runtime.advance(1_500);
		free(us);
		expect(await round).toHaveLength(1);
		const ids = asked.map(({ count, commit }) => [count.mock.lastCall?.[0].countId, commit.mock.lastCall?.[0].countId]);
		expect(ids.every(([counted, committed]) => counted !== undefined && counted === committed)).toBe(true);
		expect(new Set(ids.flat()).size).toBe(3);
	});

	test("does not count again what is younger", async () => {
		const { run, us, runtime, calls } = setUp();
		us.steal(budget);
		const round = run();
		await settle();
		await runtime.advance(900);
		free(us);
		await round;
		expect(calls.filter((call) => call.endsWith("count"))).toEqual([]);
	});

	test("starts over where the acquisition behind a count was lost", async () => {
		const { run, ap, eu, us, runtime } = setUp();
		us.steal(budget);
		const round = run();
		await settle();
		await runtime.advance(1_500);
		ap.before.count = () => void ap.steal(budget, "another thief");
		free(us);
		await expect(round).rejects.toBeInstanceOf(LeaseLostError);
		expect([eu, us].map((cluster) => cluster.lease(budget).holder)).toEqual(["", ""]);
	});
});

describe("rounds that meet", () => {
	// In x-pdb, each takes its local lock first and then the other's, so both are refused repeatedly.
	test("two that start in different clusters do not refuse each other", async () => {
		const { run, ap, eu, us } = setUp();
		const [first, second] = await Promise.all([
			run({ holder: "drain-eu", clusters: [eu, ap, us] }),
			run({ holder: "drain-us", clusters: [us, ap, eu] }),
		]);
		expect([first, second].map((verdicts) => verdicts?.length)).toEqual([1, 1]);
		expect([ap, eu, us].map((cluster) => cluster.lease(budget).holder)).toEqual(["", "", ""]);
	});

	test("six get on one after the other", async () => {
		const { run, ap, eu, us } = setUp();
		const outcomes = await Promise.all(Array.from({ length: 6 }, (_, index) => run({ holder: `drain-${index}` })));
		expect(outcomes.map((verdicts) => verdicts.length)).toEqual(Array(6).fill(1));
		expect([ap, eu, us].map((cluster) => cluster.lease(budget).holder)).toEqual(["", "", ""]);
	});

	test("a round that was overtaken cannot commit on a holding with the same nonce", async () => {
		const { eu } = setUp();
		const request = { budget, selector, holder: "drain-7f", nonce: "n", candidates: [] };
		const signal = new AbortController().signal;
		await eu.acquire(request, { wait: false, signal });
		const first = acquisitionOf(eu.lease(budget));
		free(eu);
		await eu.acquire(request, { wait: false, signal });
		expect(await eu.commit(first, [])).toMatchObject({ kind: "lost" });
	});
});
