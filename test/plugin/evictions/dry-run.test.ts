import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../plugin/events/events.ts";
import type { PodOutcome } from "../../../plugin/evictions/pod-outcome.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet, type FakeMember, type FakePod } from "../../support/fake-fleet.ts";

const dryRun = { options: { gracePeriodSeconds: -1, deletes: false, dryRun: true } };

function newDatabase(maxUnavailable = 1) {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("db", { maxUnavailable });
	const of = (member: FakeMember) => ["db-0", "db-1", "db-2"].map((name) => ({ member, pod: member.addPod(name) }));
	return { fleet, eu: of(fleet.member("eu")), us: of(fleet.member("us")) };
}

interface Named {
	readonly member: FakeMember;
	readonly pod: FakePod;
	readonly staysAway?: boolean;
}

async function tryAll(fleet: FakeFleet, pods: readonly Named[]) {
	const run = newRun(fleet, dryRun);
	const outcomes = await Promise.all(
		pods.map(({ member, pod, staysAway = false }) => run.evictions.evict({ ...run.job(member, pod), staysAway })),
	);
	await run.evictions.settled();
	return { ...run, outcomes };
}

const waits = (events: readonly RunEvent[]) => events.filter((event) => event.type === "pod.waiting");
const messages = (outcomes: readonly PodOutcome[]): readonly string[] =>
	outcomes.map((outcome) => (outcome.kind === "failed" ? outcome.message : outcome.kind));
const named = (pod: Named | undefined): readonly Named[] => (pod ? [pod] : []);

function expectUntouched(fleet: FakeFleet): void {
	expect(fleet.evictions).toEqual([]);
	expect(fleet.members.map(({ rounds }) => rounds)).toEqual(fleet.members.map(() => 0));
	expect(fleet.members.map(({ reservations }) => reservations.size)).toEqual(fleet.members.map(() => 0));
}

describe("a dry run on the server", () => {
	test("asks the API server for a pod that its budgets let go, and takes no lease", async () => {
		const { fleet, eu } = newDatabase();
		const { outcomes, events } = await tryAll(fleet, named(eu[0]));
		expect(outcomes).toEqual([{ kind: "evicted" }]);
		expect(fleet.dryRuns).toEqual(["eu/db-0"]);
		expect(events.map(({ type }) => type)).toEqual(["pod.evicting", "pod.accepted"]);
		expectUntouched(fleet);
	});

	test("says for what a pod would wait whose budget others use up, and asks for no eviction", async () => {
		const { fleet, eu, us } = newDatabase();
		if (us[2]) us[2].pod.healthy = false;
		const { outcomes, events } = await tryAll(fleet, named(eu[0]));
		expect(outcomes).toEqual([
			{
				kind: "failed",
				reason: "BudgetExhausted",
				message:
					'error when evicting pods/"db-0" -n "shop": it would wait: budget shop/db has no disruption left: 5 of 6 healthy, 5 required',
				waitedFor: "budget shop/db has no disruption left: 5 of 6 healthy, 5 required; used by shop/db-2 in us",
				unreachable: false,
			},
		]);
		expect(waits(events)).toMatchObject([
			{
				dryRun: "server",
				reason: "BudgetExhausted",
				budget: "shop/db",
				need: 5,
				healthy: 5,
				usedBy: [{ cluster: "us", pod: "db-2", why: "NotReady" }],
			},
		]);
		expect(waits(events)[0]).not.toHaveProperty("retryAfterMs");
		expect(fleet.dryRuns).toEqual([]);
		expectUntouched(fleet);
	});

	test("lets more pods than the budget go one after the other, and says that they would wait for each other", async () => {
		const { fleet, eu, us } = newDatabase(2);
		const { outcomes, events } = await tryAll(fleet, [...eu, ...named(us[0])]);
		expect(outcomes.map(({ kind }) => kind)).toEqual(["evicted", "evicted", "evicted", "evicted"]);
		expect(fleet.dryRuns).toEqual(["eu/db-0", "eu/db-1", "eu/db-2", "us/db-0"]);
		expect(waits(events)).toMatchObject(
			["db-2", "db-0"].map((pod) => ({
				pod,
				dryRun: "server",
				message: "budget shop/db has no disruption left: 4 of 6 healthy, 4 required",
				usedBy: ["db-0", "db-1"].map((name) => ({ cluster: "eu", pod: name, holder: "this run" })),
			})),
		);
		expectUntouched(fleet);
	});

	test("remembers from node to node what it would have taken", async () => {
		const { fleet, eu, us } = newDatabase();
		const run = newRun(fleet, dryRun);
		const [first, second] = [...named(eu[0]), ...named(us[0])];
		if (!first || !second) throw new Error("no pods");
		await run.evictions.evict(run.job(first.member, first.pod));
		expect(waits(run.events)).toEqual([]);
		await run.evictions.evict(run.job(second.member, second.pod));
		expect(waits(run.events)).toMatchObject([{ context: "us", pod: "db-0", usedBy: [{ cluster: "eu", pod: "db-0" }] }]);
		expect(fleet.dryRuns).toEqual(["eu/db-0", "us/db-0"]);
	});

	test("says who waits for ever for a pod that nothing healthy will replace", async () => {
		const { fleet, eu } = newDatabase();
		const [first, ...others] = eu;
		const { outcomes, events } = await tryAll(fleet, [...(first ? [{ ...first, staysAway: true }] : []), ...others]);
		expect(outcomes.map(({ kind }) => kind)).toEqual(["evicted", "failed", "failed"]);
		expect(waits(events)).toMatchObject([
			{ pod: "db-1", usedBy: [{ pod: "db-0", holder: "this run" }] },
			{ pod: "db-2", usedBy: [{ pod: "db-0", holder: "this run" }] },
		]);
		expect(fleet.dryRuns).toEqual(["eu/db-0"]);
	});

	test("says so too where that pod would have to wait itself first", async () => {
		const { fleet, eu } = newDatabase();
		const [first, second, third] = eu;
		if (!first || !second || !third) throw new Error("no pods");
		const { outcomes } = await tryAll(fleet, [first, { ...second, staysAway: true }, third]);
		expect(outcomes.map(({ kind }) => kind)).toEqual(["evicted", "evicted", "failed"]);
	});

	test("lets pods go together that share no budget, and holds back by each budget of a pod", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 5 });
		fleet.addBudget("primary", { minAvailable: 1, selector: { matchLabels: { role: "primary" } } });
		const eu = fleet.member("eu");
		const both = { app: "db", role: "primary" };
		const pods = [
			eu.addPod("db-0", { labels: both }),
			eu.addPod("db-1"),
			eu.addPod("db-2", { labels: both }),
			eu.addPod("web-0", { labels: { app: "web" } }),
		].map((pod) => ({ member: eu, pod }));
		const { outcomes, events } = await tryAll(fleet, pods);
		expect(outcomes.map(({ kind }) => kind)).toEqual(["evicted", "evicted", "evicted", "evicted"]);
		expect(waits(events)).toMatchObject([{ pod: "db-2", budget: "shop/primary", usedBy: [{ pod: "db-0" }] }]);
		expect(fleet.dryRuns.toSorted()).toEqual(["eu/db-0", "eu/db-1", "eu/db-2", "eu/web-0"]);
	});

	test("takes nothing from a budget for a pod that is not ready", async () => {
		const { fleet, eu } = newDatabase(2);
		const [first, second] = eu;
		if (!first || !second) throw new Error("no pods");
		first.pod.healthy = false;
		const { outcomes, events } = await tryAll(fleet, [first, second]);
		expect(outcomes.map(({ kind }) => kind)).toEqual(["evicted", "evicted"]);
		expect(waits(events)).toEqual([]);
	});

	test("asks the API server once, whatever that says", async () => {
		const { fleet, eu } = newDatabase();
		fleet.refusals.push(new ApiError("not now", { code: 429 }));
		const { outcomes } = await tryAll(fleet, named(eu[0]));
		expect(messages(outcomes)).toEqual(['error when evicting pods/"db-0" -n "shop": not now']);
	});

	test("does not hold up pods that have finished or are gone", async () => {
		const { fleet, eu } = newDatabase(0);
		const [finished, gone] = eu;
		if (!finished || !gone) throw new Error("no pods");
		finished.pod.finished = true;
		gone.member.pods.delete(gone.pod.uid);
		const { outcomes } = await tryAll(fleet, [finished, gone]);
		expect(outcomes.map(({ kind }) => kind)).toEqual(["evicted", "gone"]);
		expect(fleet.dryRuns).toEqual(["eu/db-0"]);
	});

	test("of a cluster that is no member asks its API server alone", async () => {
		const { fleet } = newDatabase();
		const stranger = new FakeFleet(["far"]);
		const far = stranger.member("far");
		const run = newRun(fleet, dryRun);
		expect(await run.evictions.evict(run.job(far, far.addPod("db-0")))).toEqual({ kind: "evicted" });
		expect(stranger.dryRuns).toEqual(["far/db-0"]);
		expect(fleet.lists).toBe(0);
	});

	const failures: readonly {
		readonly name: string;
		readonly prepare: (fleet: FakeFleet, pod: FakePod) => void;
		readonly expected: object;
	}[] = [
		{
			name: "a member gives no answer to the lists",
			prepare: (fleet) => {
				fleet.member("us").isDown = true;
			},
			expected: { reason: "PeerUnreachable", unreachable: true, waitedFor: "cannot call ListBudgets" },
		},
		{
			name: "a member gives no answer to the count",
			prepare: (fleet) => {
				const us = fleet.member("us");
				fleet.onList = () => {
					us.isDown = true;
				};
				us.onLook = () => {
					us.isDown = true;
				};
			},
			expected: { reason: "PeerUnreachable", unreachable: true },
		},
		{
			name: "a member declares another fleet",
			prepare: (fleet) => {
				fleet.member("us").otherHash = "other";
			},
			expected: { reason: "FleetsDiffer", unreachable: false },
		},
		{
			name: "a Lease cannot be read",
			prepare: (fleet) => {
				fleet.member("us").isGarbled = true;
			},
			expected: { reason: "GarbledLease", unreachable: false },
		},
		{
			name: "a budget cannot be read",
			prepare: (fleet) => {
				fleet.addBudget("broken", { minAvailable: -1 });
			},
			expected: { reason: "InvalidBudget", unreachable: false },
		},
		{
			name: "a pre-activity is pending",
			prepare: (_, pod) => {
				pod.annotations = { "pre-activity.xpdb.form3.tech/backup": "" };
			},
			expected: {
				reason: "PreActivityPending",
				message: expect.stringMatching(
					/: it would wait: pod shop\/db-0 waits for its pre-activity backup; done, it is cleared by /,
				),
			},
		},
		{
			name: "somebody else was granted the pod",
			prepare: (fleet, pod) => {
				fleet.member("eu").reservations.set(pod.uid, "theirs");
			},
			expected: { reason: "PodReserved", waitedFor: "pod shop/db-0 is being evicted by someone" },
		},
	];
	for (const { name, prepare, expected } of failures) {
		test(`fails closed where ${name}`, async () => {
			const { fleet, eu } = newDatabase();
			const [first] = eu;
			if (!first) throw new Error("no pods");
			prepare(fleet, first.pod);
			const { outcomes } = await tryAll(fleet, [first]);
			expect(outcomes).toMatchObject([{ kind: "failed", ...expected }]);
			expect(fleet.dryRuns).toEqual([]);
			expect(fleet.evictions).toEqual([]);
			expect(fleet.members.map(({ rounds }) => rounds)).toEqual([0, 0]);
		});
	}
});
