// Tests pods whose labels change while they wait, and budgets that are created meanwhile. An outdated list does not justify an eviction.
import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet, type FakePod } from "../../support/fake-fleet.ts";

const primary = { app: "pg", role: "primary" };
const replica = { app: "pg", role: "replica" };

/** Creates a database whose primary must not go, and a job for a pod that was listed as a replica. */
function newPostgres() {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("pg-primary", { maxUnavailable: 0, selector: { matchLabels: { role: "primary" } } });
	const eu = fleet.member("eu");
	const pod = eu.addPod("pg-0", { labels: replica });
	eu.expected = 1;
	const run = newRun(fleet);
	return { fleet, eu, pod, run, job: run.job(eu, pod) };
}

const preconditionsOf = (body: unknown): unknown =>
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the plugin's own request
	(body as { readonly deleteOptions: { readonly preconditions: unknown } }).deleteOptions.preconditions;

async function pass(run: ReturnType<typeof newRun>, ms: number): Promise<void> {
	await run.runtime.sleep(ms, new AbortController().signal);
}

describe("pg-0, listed as a replica and promoted before its turn", () => {
	test("waits for the budget of the primary, and is not evicted", async () => {
		const { fleet, eu, pod, run, job } = newPostgres();
		// Time passes while a command sorts its pods or asks for confirmation.
		await pass(run, 60_000);
		eu.change(pod, { labels: primary });
		const outcome = run.evictions.evict(job);
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		run.stop.abort();
		expect(await outcome).toEqual({ kind: "stopped" });
		expect(fleet.evictions).toEqual([]);
	});

	test("is not evicted where others have listed its namespace just now", async () => {
		const { fleet, eu, pod, run, job } = newPostgres();
		await pass(run, 60_000);
		eu.change(pod, { labels: primary });
		const other = eu.addPod("web-0", { labels: { app: "web" } });
		expect(await run.evictions.evict(run.job(eu, other))).toEqual({ kind: "evicted" });
		const outcome = run.evictions.evict(job);
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		run.stop.abort();
		await outcome;
		expect(fleet.evictions.map(({ pod: name }) => name)).toEqual(["web-0"]);
	});

	test("is not evicted after the outage of a member", async () => {
		const { fleet, eu, pod, run, job } = newPostgres();
		fleet.member("us").isDown = true;
		const outcome = run.evictions.evict(job);
		await expect.poll(() => run.events.filter(({ type }) => type === "cluster.unreachable").length).toBeGreaterThan(3);
		eu.change(pod, { labels: primary });
		fleet.member("us").isDown = false;
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		run.stop.abort();
		await outcome;
		expect(fleet.evictions).toEqual([]);
	});

	test("is not evicted by a request that comes later than the promotion", async () => {
		const { fleet, eu, pod, run, job } = newPostgres();
		let requests = 0;
		fleet.onEviction = () => {
			requests += 1;
			if (requests === 1) eu.change(pod, { labels: primary });
		};
		const outcome = run.evictions.evict(job);
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		run.stop.abort();
		await outcome;
		expect(requests).toBe(1);
		expect(fleet.evictions).toEqual([]);
	});

	test("is not evicted by the next try after a refusal of somebody else's budget", async () => {
		const { fleet, eu, pod, job } = newPostgres();
		fleet.refusals.push(new ApiError("no", { code: 429 }));
		const waits = Promise.withResolvers<void>();
		const emit = ({ type }: RunEvent): void => {
			if (type === "pod.retrying") eu.change(pod, { labels: primary });
			if (type === "pod.waiting") waits.resolve();
		};
		const run = newRun(fleet, { emit });
		const outcome = run.evictions.evict(job);
		await waits.promise;
		run.stop.abort();
		await outcome;
		expect(fleet.evictions).toEqual([]);
	});
});

describe("a pod that no budget covers", () => {
	test("goes by uid and version where a budget of the namespace could cover other labels", async () => {
		const { fleet, eu, pod, run, job } = newPostgres();
		expect(await run.evictions.evict(job)).toEqual({ kind: "evicted" });
		expect(preconditionsOf(fleet.evictions[0]?.body)).toEqual({ uid: pod.uid, resourceVersion: String(pod.version) });
		// The list was young enough, so the pod was read only to see whether it was gone.
		expect(eu.reads).toBe(1);
	});

	test("is read anew where its listing is older than a second", async () => {
		const { fleet, eu, pod, run, job } = newPostgres();
		await pass(run, 2_000);
		eu.change(pod, { labels: { ...replica, zone: "b" } });
		expect(await run.evictions.evict(job)).toEqual({ kind: "evicted" });
		expect(preconditionsOf(fleet.evictions[0]?.body)).toEqual({ uid: pod.uid, resourceVersion: String(pod.version) });
		expect(eu.reads).toBe(2);
	});

	test("goes by uid alone, and unread, where no member has a budget in its namespace", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		const eu = fleet.member("eu");
		const pod = eu.addPod("web-0");
		const run = newRun(fleet);
		const job = run.job(eu, pod);
		await pass(run, 60_000);
		expect(await run.evictions.evict(job)).toEqual({ kind: "evicted" });
		expect(preconditionsOf(fleet.evictions[0]?.body)).toEqual({ uid: pod.uid });
		expect(eu.reads).toBe(1);
	});

	test("shares its list with the others of a second", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		const eu = fleet.member("eu");
		const pods = Array.from({ length: 50 }, (_, index) => eu.addPod(`web-${index}`));
		const run = newRun(fleet, { waitsUntilGone: false });
		await Promise.all(pods.slice(0, 25).map((pod) => run.evictions.evict(run.job(eu, pod))));
		await Promise.all(pods.slice(25).map((pod) => run.evictions.evict(run.job(eu, pod))));
		expect(fleet.lists).toBe(1);
		expect(fleet.evictions).toHaveLength(50);
	});

	test("obeys a budget that is made more than a second after the last list", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		const eu = fleet.member("eu");
		const [first, second] = [eu.addPod("db-0"), eu.addPod("db-1")];
		const run = newRun(fleet, { waitsUntilGone: false });
		expect(await run.evictions.evict(run.job(eu, first))).toEqual({ kind: "evicted" });
		await pass(run, 1_001);
		fleet.addBudget("db", { maxUnavailable: 0 });
		const outcome = run.evictions.evict(run.job(eu, second));
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		run.stop.abort();
		await outcome;
		expect(fleet.evictions.map(({ pod }) => pod)).toEqual(["db-0"]);
	});

	test("is not evicted on lists that take longer than they are worth", async () => {
		const { fleet, run, job } = newPostgres();
		fleet.onList = () => pass(run, 1_500);
		const outcome = run.evictions.evict(job);
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		expect(fleet.evictions).toEqual([]);
		fleet.onList = () => undefined;
		expect(await outcome).toEqual({ kind: "evicted" });
	});

	for (const refusals of [0, 3]) {
		test(`is evicted right after one of its changes, once a 409 has shown that it is busy, ${refusals} refusals later`, async () => {
			const { fleet, eu, pod, run, job } = newPostgres();
			const changesEveryMs = 200;
			let changedAt = run.runtime.now();
			const beat = (): void => {
				while (run.runtime.now() - changedAt >= changesEveryMs) {
					changedAt += changesEveryMs;
					eu.change(pod);
				}
			};
			eu.onRead = beat;
			let requests = 0;
			const late: number[] = [];
			fleet.onEviction = () => {
				beat();
				const sinceMs = run.runtime.now() - changedAt;
				requests += 1;
				if (requests === 1) {
					eu.change(pod);
					for (let n = 0; n < refusals; n += 1) fleet.refusals.push(new ApiError("no", { code: 429 }));
				} else if (sinceMs > changesEveryMs / 4) late.push(sinceMs);
			};
			await pass(run, 150);
			expect(await run.evictions.evict(job)).toEqual({ kind: "evicted" });
			expect(requests).toBe(2 + refusals);
			expect(late).toEqual([]);
		});
	}
});

describe("tries that come to nothing", () => {
	/** Returns how many rounds a run makes in this time for a pod that has changed after each grant. */
	async function countRounds(forMs: number, change: (fleet: FakeFleet, pod: FakePod) => void): Promise<number> {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 1 });
		const eu = fleet.member("eu");
		const pod = eu.addPod("db-0");
		const run = newRun(fleet);
		change(fleet, pod);
		// The run's own clock ends it. An outside observer would be late on a busy machine, and count more rounds.
		const sleep = run.runtime.sleep.bind(run.runtime);
		run.runtime.sleep = async (ms, signal) => {
			await sleep(ms, signal);
			if (run.runtime.now() > forMs) run.stop.abort();
		};
		await run.evictions.evict(run.job(eu, pod));
		expect(fleet.evictions).toEqual([]);
		return eu.rounds;
	}

	test("are further and further apart where a pod's labels change after every grant", async () => {
		let changes = 0;
		const rounds = await countRounds(20_000, (fleet, pod) => {
			fleet.onEviction = () => {
				changes += 1;
				fleet.member("eu").change(pod, { labels: { app: "db", change: String(changes) } });
			};
		});
		expect(rounds).toBeGreaterThan(2);
		expect(rounds).toBeLessThan(15);
	});

	test("are further and further apart where rounds say that the coverage has changed, and lists do not", async () => {
		const rounds = await countRounds(20_000, (fleet) => {
			const other = { name: { namespace: "shop", name: "other" }, spec: { selector: {}, maxUnavailable: 1 } };
			const eu = fleet.member("eu");
			const list = fleet.listBudgets.bind(fleet);
			eu.ownBudgets.push(other);
			fleet.listBudgets = async (namespaces) =>
				(await list(namespaces)).map((member) => ({
					...member,
					budgets: member.budgets.filter(({ name }) => name.name !== "other"),
				}));
		});
		expect(rounds).toBeGreaterThan(2);
		expect(rounds).toBeLessThan(15);
	});

	test("are further and further apart where every acquisition is lost", async () => {
		const rounds = await countRounds(20_000, (fleet) => {
			fleet.member("us").commit = async () => ({ kind: "lost", reason: "broken" });
		});
		expect(rounds).toBeGreaterThan(2);
		expect(rounds).toBeLessThan(20);
	});
});

describe("pods that a budget covers", () => {
	test("go into a round unread, however long ago they were listed", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: "100%" });
		const eu = fleet.member("eu");
		const pods = Array.from({ length: 20 }, (_, index) => eu.addPod(`db-${index}`));
		const run = newRun(fleet, { waitsUntilGone: false });
		const jobs = pods.map((pod) => run.job(eu, pod));
		await pass(run, 60_000);
		await Promise.all(jobs.map((job) => run.evictions.evict(job)));
		expect(fleet.evictions).toHaveLength(20);
		expect([eu.reads, fleet.lists]).toEqual([0, 1]);
	});
});

describe("a pod that was granted", () => {
	test("stays where it was given a pre-activity before its eviction", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 1 });
		const eu = fleet.member("eu");
		const pod = eu.addPod("db-0");
		const run = newRun(fleet);
		let requests = 0;
		fleet.onEviction = () => {
			requests += 1;
			eu.change(pod, { annotations: { "pre-activity.xpdb.form3.tech/backup": "" } });
		};
		const outcome = run.evictions.evict(run.job(eu, pod));
		await expect
			.poll(() => run.events.some((event) => event.type === "pod.waiting" && event.reason === "PreActivityPending"))
			.toBe(true);
		run.stop.abort();
		await outcome;
		expect(run.events).toContainEqual(
			expect.objectContaining({
				reason: "PreActivityPending",
				message:
					"pod shop/db-0 waits for its pre-activity backup; done, it is cleared by " +
					"kubectl annotate pod db-0 -n shop pre-activity.xpdb.form3.tech/backup- --context eu",
			}),
		);
		expect(requests).toBe(1);
		expect(fleet.evictions).toEqual([]);
	});

	test("goes unreserved as finished only in a version that is finished", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 0 });
		const eu = fleet.member("eu");
		const pod = eu.addPod("job", { finished: true });
		const run = newRun(fleet);
		eu.onRead = () => eu.change(pod, { finished: false });
		const outcome = run.evictions.evict(run.job(eu, pod));
		await expect
			.poll(() => run.events.some((event) => event.type === "pod.waiting" && event.reason === "BudgetExhausted"))
			.toBe(true);
		run.stop.abort();
		await outcome;
		expect(fleet.evictions).toEqual([]);
	});
});
