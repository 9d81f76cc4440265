import { describe, expect, test } from "vitest";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import {
	AgentForbiddenError,
	AgentUnavailableError,
	GarbledLeaseError,
	LeaseLostError,
} from "../../disruption/errors.ts";
import { parseLabelSelector } from "../../disruption/budget/selector.ts";
import { budget, memberBudget, newCount, newSpec, podReference, presentPod, selector } from "../support/build-count.ts";
import { kinds, setUpRound } from "./round-fleet.ts";
import type { ScriptedCluster } from "./scripted-cluster.ts";

const unavailable = (cluster: string) =>
	new AgentUnavailableError(`cannot reach the agent of cluster "${cluster}"`, cluster);

function throwing(error: Error): () => never {
	return () => {
		throw error;
	};
}

function expectNothingLeft(...clusters: readonly ScriptedCluster[]): void {
	for (const cluster of clusters) {
		const { holder, state } = cluster.lease(budget);
		expect({ cluster: cluster.id, holder, reservations: state.reservations }).toEqual({
			cluster: cluster.id,
			holder: "",
			reservations: [],
		});
	}
}

describe("runRound() where nobody else is", () => {
	test("grants with two calls to each cluster, also to the one where nothing is granted", async () => {
		const { run, calls } = setUpRound();
		expect(kinds(await run())).toEqual(["granted"]);
		expect(calls).toEqual(["eu acquire", "us acquire", "eu commit 1", "us commit"]);
	});

	test("reserves the granted pod in its own cluster, and holds no Lease any more", async () => {
		const { run, eu, us } = setUpRound();
		await run();
		expect(eu.lease(budget)).toMatchObject({
			holder: "",
			state: { phase: "committed", reservations: [{ uid: "uid-db-0", resourceVersion: "100", holder: "drain-7f" }] },
		});
		expect(us.lease(budget)).toMatchObject({ holder: "", state: { phase: "committed", reservations: [] } });
	});

	test("gives a ticket for what it reserved", async () => {
		const { run, eu } = setUpRound();
		const outcome = await run();
		expect(outcome).toMatchObject([
			{
				candidate: { clusterId: "eu", pod: podReference("db-0") },
				ticket: {
					clusterId: "eu",
					pod: podReference("db-0"),
					id: eu.lease(budget).state.reservations[0]?.id,
					budgets: [budget],
					resourceVersion: "100",
					labels: expect.anything() as Record<string, string>,
					countedAt: 0,
				},
			},
		]);
	});

	test("makes a ticket as old as the question of its oldest count", async () => {
		const { run, us, runtime } = setUpRound();
		const slow = Promise.withResolvers<void>();
		us.after.acquire = () => slow.promise;
		const running = run();
		await runtime.advance(900);
		slow.resolve();
		expect(await running).toMatchObject([{ kind: "granted", ticket: { countedAt: 0 } }]);
		expect(runtime.now()).toBe(900);
	});

	// x-pdb keeps its lock for 5 s after each answer, so it allows at most twelve evictions a minute.
	test("grants as many pods at once as the budget allows, in their order", async () => {
		const { run, eu, us } = setUpRound();
		for (const cluster of [eu, us]) {
			cluster.counted = { ...cluster.counted, budgets: [memberBudget(newSpec({ maxUnavailable: 2 }))] };
		}
		const pods = ["db-1", "db-0"].map((name) => ({ clusterId: "eu", pod: podReference(name) }));
		expect(kinds(await run({ candidates: pods }))).toEqual(["granted", "granted"]);
		expect(eu.lease(budget).state.reservations.map(({ name }) => name)).toEqual(["db-1", "db-0"]);
	});

	test("gives back and writes no more where nothing is granted", async () => {
		const { run, calls, eu, us } = setUpRound({ healthy: 2 });
		expect(kinds(await run())).toEqual(["waiting BudgetExhausted"]);
		expect(calls).toEqual(["eu acquire", "us acquire", "eu release", "us release"]);
		expectNothingLeft(eu, us);
	});

	test("names those who use a budget up by their clusters' names, whoever answers first", async () => {
		const used = (name: string) => ({ namespace: "shop", name, why: "NotReady" }) as const;
		const { run, eu, us } = setUpRound({ healthy: 2, unavailable: [used("db-2")] });
		us.counted = { healthy: 2, unavailable: [used("db-5")] };
		const answered = Promise.withResolvers<void>();
		us.after.acquire = () => void setImmediate(answered.resolve);
		eu.after.acquire = () => answered.promise;
		expect(await run()).toMatchObject([
			{
				usedBy: [
					{ name: "db-2", cluster: "eu-1" },
					{ name: "db-5", cluster: "us-1" },
				],
			},
		]);
	});

	test("asks each cluster for its own candidates only", async () => {
		const { run, eu, us } = setUpRound();
		const asked: string[] = [];
		for (const cluster of [eu, us]) {
			const acquire = cluster.acquire.bind(cluster);
			cluster.acquire = (request, options) => {
				asked.push(`${cluster.id}: ${request.candidates.map(({ name }) => name).join()}`);
				return acquire(request, options);
			};
		}
		await run();
		expect(asked).toEqual(["eu: db-0", "us: "]);
	});

	test("reserves under each covering budget with one id, and not under the others", async () => {
		const zone: BudgetName = { namespace: "shop", name: "zone-a" };
		const zoneBudget = memberBudget({ selector: { matchLabels: { zone: "a" } }, maxUnavailable: 1 }, zone);
		const budgets = [memberBudget(newSpec({ maxUnavailable: 2 })), zoneBudget];
		const inZone = presentPod("db-0", { labels: { app: "db", zone: "a" } });
		const { run, eu, us } = setUpRound({ budgets, candidates: [inZone, presentPod("db-1")] });
		us.counted = { budgets };
		const outcome = await run({
			budgets: [
				{ name: budget, selector },
				{ name: zone, selector: parseLabelSelector({ matchLabels: { zone: "a" } }, "spec.selector") },
			],
			candidates: ["db-0", "db-1"].map((name) => ({ clusterId: "eu", pod: podReference(name) })),
		});
		expect(kinds(outcome)).toEqual(["granted", "granted"]);
		const [first, second] = eu.lease(budget).state.reservations;
		expect([first?.name, second?.name]).toEqual(["db-0", "db-1"]);
		expect(eu.lease(zone).state.reservations).toEqual([first]);
		expect([us.lease(budget), us.lease(zone)].map(({ state }) => state.phase)).toEqual(["committed", "committed"]);
	});
});

describe("runRound() where a cluster cannot be asked", () => {
	// x-pdb does not release the locks that it has acquired: they time out.
	test("a failed remote lock leaves no lease behind", async () => {
		const { run, eu, us } = setUpRound();
		us.before.acquire = throwing(unavailable("us-1"));
		await expect(run()).rejects.toMatchObject({ name: "AgentUnavailableError", cluster: "us-1" });
		expectNothingLeft(eu, us);
	});

	test("a lease that was got after another cluster had failed is given back too", async () => {
		const { run, eu, us } = setUpRound();
		const slow = Promise.withResolvers<void>();
		eu.before.acquire = () => slow.promise;
		us.before.acquire = () => {
			slow.resolve();
			throw unavailable("us-1");
		};
		await expect(run()).rejects.toMatchObject({ cluster: "us-1" });
		expectNothingLeft(eu, us);
	});

	test("a release that fails as well does not hide why the round failed", async () => {
		const { run, eu, us, runtime } = setUpRound();
		us.before.acquire = throwing(unavailable("us-1"));
		eu.before.release = throwing(unavailable("eu-1"));
		await expect(run()).rejects.toMatchObject({ cluster: "us-1" });
		expect(runtime.leftBehind).toMatchObject([{ cluster: "eu-1" }]);
		delete eu.before.release;
		await runtime.giveBack();
		expectNothingLeft(eu, us);
	});

	test("missing rights are an error and no answer", async () => {
		const { run, eu, us } = setUpRound();
		us.before.acquire = throwing(new AgentForbiddenError("cannot acquire in cluster us-1"));
		await expect(run()).rejects.toThrow(AgentForbiddenError);
		expectNothingLeft(eu, us);
	});

	test("a garbled Lease refuses every candidate with its message, and what was got is given back", async () => {
		const { run, eu, us } = setUpRound();
		us.before.acquire = throwing(new GarbledLeaseError("cannot read Lease of us-1"));
		const outcome = await run();
		expect(outcome).toMatchObject([{ reason: "GarbledLease", message: "cannot read Lease of us-1" }]);
		expectNothingLeft(eu, us);
	});

	test("a cluster that answers for another one is a refusal", async () => {
		const { run, eu, us } = setUpRound();
		us.counted = newCount("ap");
		expect(kinds(await run())).toEqual(["refused FleetsDiffer"]);
		expectNothingLeft(eu, us);
	});
});

describe("runRound() commits everywhere or not at all", () => {
	test("a Lease stolen where something is granted: nothing is granted", async () => {
		const { run, eu, us } = setUpRound();
		eu.before.commit = () => void eu.steal(budget);
		await expect(run()).rejects.toThrow(new LeaseLostError('held by "thief"'));
		expectNothingLeft(us);
		expect(eu.lease(budget)).toMatchObject({ holder: "thief", state: { reservations: [] } });
	});

	// A commit only in the clusters of granted pods would save calls, but would not notice this theft.
	test("a Lease stolen where nothing is granted: nothing is granted, and the reservation is taken back", async () => {
		const { run, eu, us, calls } = setUpRound();
		us.before.commit = () => void us.steal(budget);
		await expect(run()).rejects.toThrow(new LeaseLostError('held by "thief"'));
		expectNothingLeft(eu);
		expect(us.lease(budget).holder).toBe("thief");
		expect(calls).toContain("eu cancel");
	});

	test("a Lease stolen and given back again: nothing is granted", async () => {
		const { run, eu, us } = setUpRound();
		us.before.commit = async () => us.release(us.steal(budget));
		await expect(run()).rejects.toBeInstanceOf(LeaseLostError);
		expectNothingLeft(eu, us);
	});

	test("a commit that gets no answer is asked for again, and stands once it was written", async () => {
		const { run, eu, calls } = setUpRound();
		eu.after.commit = () => {
			delete eu.after.commit;
			throw unavailable("eu-1");
		};
		expect(kinds(await run())).toEqual(["granted"]);
		expect(calls.filter((call) => call === "eu commit 1")).toHaveLength(2);
		expect(eu.lease(budget).state.reservations).toHaveLength(1);
	});

	test("a commit that never gets an answer counts as failed, also where it was written", async () => {
		const { run, eu, us, calls } = setUpRound();
		us.after.commit = throwing(unavailable("us-1"));
		await expect(run()).rejects.toMatchObject({ cluster: "us-1" });
		expect(calls.filter((call) => call === "us commit")).toHaveLength(3);
		expectNothingLeft(eu, us);
	});

	test("a commit that is written late, after the round gave up, does not stand", async () => {
		const { run, eu, us } = setUpRound();
		us.before.commit = throwing(unavailable("us-1"));
		const late = us.lease(budget);
		await expect(run()).rejects.toMatchObject({ cluster: "us-1" });
		delete us.before.commit;
		const acquisition = { budget, leaseUid: late.uid, leaseTransitions: 1, nonce: us.lease(budget).state.nonce };
		expect(await us.commit(acquisition, [])).toMatchObject({ kind: "lost" });
		expectNothingLeft(eu, us);
	});

	test("an error that another try cannot help is not asked for again", async () => {
		const { run, eu, us, calls } = setUpRound();
		us.before.commit = throwing(new LeaseLostError("Lease was lost"));
		await expect(run()).rejects.toThrow(new LeaseLostError("Lease was lost"));
		expect(calls.filter((call) => call === "us commit")).toHaveLength(1);
		expectNothingLeft(eu, us);
	});

	test("a full Lease makes the granted wait, names itself, and leaves the other verdicts", async () => {
		const { run, eu, us } = setUpRound();
		eu.maxReservations = 0;
		const both = ["db-0", "db-1"].map((name) => ({ clusterId: "eu", pod: podReference(name) }));
		const outcome = await run({ candidates: both });
		expect(kinds(outcome)).toEqual(["waiting LeaseFull", "waiting BudgetExhausted"]);
		expect(outcome).toMatchObject([
			{
				message: "the Lease of budget shop/db in cluster eu-1 holds 0 reservations and has no room for more",
			},
			{},
		]);
		expectNothingLeft(eu, us);
	});

	test("a pod that its agent left out is not granted, and the others are", async () => {
		const { run, eu, us } = setUpRound();
		for (const cluster of [eu, us]) {
			cluster.counted = { ...cluster.counted, budgets: [memberBudget(newSpec({ maxUnavailable: 2 }))] };
		}
		eu.leavesOut.set("uid-db-0", "Gone");
		const both = ["db-0", "db-1"].map((name) => ({ clusterId: "eu", pod: podReference(name) }));
		const outcome = await run({ candidates: both });
		expect(kinds(outcome)).toEqual(["waiting PodUnseen", "granted"]);
		expect(outcome).toMatchObject([{ message: "pod shop/db-0 went away while it was being granted" }, {}]);
		expect(eu.lease(budget).state.reservations.map(({ name }) => name)).toEqual(["db-1"]);
	});

	test("a pod that was left out under one budget is taken back under the other", async () => {
		const zone: BudgetName = { namespace: "shop", name: "zone-a" };
		const zoneBudget = memberBudget({ selector: { matchLabels: { zone: "a" } }, maxUnavailable: 1 }, zone);
		const budgets = [memberBudget(newSpec({ maxUnavailable: 1 })), zoneBudget];
		const { run, eu, us } = setUpRound({
			budgets,
			candidates: [presentPod("db-0", { labels: { app: "db", zone: "a" } })],
		});
		us.counted = { budgets };
		let commits = 0;
		eu.before.commit = () => {
			commits += 1;
			if (commits === 2) eu.leavesOut.set("uid-db-0", "NotCovered");
		};
		const outcome = await run({
			budgets: [
				{ name: budget, selector },
				{ name: zone, selector: parseLabelSelector({ matchLabels: { zone: "a" } }, "spec.selector") },
			],
		});
		expect(kinds(outcome)).toEqual(["waiting CoverageChanged"]);
		for (const name of [budget, zone]) {
			expect(eu.lease(name)).toMatchObject({ holder: "", state: { phase: "committed", reservations: [] } });
		}
	});

	test("a pod of the same uid in another cluster is not the one that was left out", async () => {
		const { run, eu, us } = setUpRound();
		for (const cluster of [eu, us]) {
			cluster.counted = {
				...cluster.counted,
				candidates: [presentPod("db-0")],
				budgets: [memberBudget(newSpec({ maxUnavailable: 2 }))],
			};
		}
		us.leavesOut.set("uid-db-0", "Gone");
		const candidates = ["eu", "us"].map((clusterId) => ({ clusterId, pod: podReference("db-0") }));
		expect(kinds(await run({ candidates }))).toEqual(["granted", "waiting PodUnseen"]);
	});

	test("what cannot be taken back is reported, and the failure is still the commit's", async () => {
		const { run, eu, us, runtime } = setUpRound();
		us.before.commit = throwing(unavailable("us-1"));
		eu.before.cancel = throwing(unavailable("eu-1"));
		await expect(run()).rejects.toMatchObject({ cluster: "us-1" });
		expect(runtime.leftBehind).toMatchObject([{ cluster: "eu-1" }]);
		expect(eu.lease(budget).state.reservations).toHaveLength(1);
		delete eu.before.cancel;
		await runtime.giveBack();
		expectNothingLeft(eu, us);
	});
});

describe("runRound() that is aborted", () => {
	test("gives back what it has, and rejects with the reason", async () => {
		const { run, eu, us } = setUpRound();
		const abort = new AbortController();
		us.after.acquire = () => abort.abort(new Error("Interrupted"));
		await expect(run({ signal: abort.signal })).rejects.toThrow("Interrupted");
		expectNothingLeft(eu, us);
	});

	test("is not aborted any more once it commits: whatever stands is granted", async () => {
		const { run, eu } = setUpRound();
		const abort = new AbortController();
		eu.before.commit = () => abort.abort(new Error("Interrupted"));
		expect(kinds(await run({ signal: abort.signal }))).toEqual(["granted"]);
	});
});
