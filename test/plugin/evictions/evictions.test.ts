import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { createTimeout } from "../../../plugin/evictions/eviction-job.ts";
import { reservationAnnotation } from "../../../plugin/evictions/send-eviction.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet, namespace } from "../../support/fake-fleet.ts";
import { newDatabase } from "./new-database.ts";

/** Replaces missing pods at each look at the first member. */
function replacePods(fleet: FakeFleet): void {
	const [first] = fleet.members;
	if (!first) throw new Error("no members");
	first.onLook = () => {
		for (const member of fleet.members) {
			for (let missing = member.expected - member.pods.size; missing > 0; missing -= 1) {
				member.addPod(`new-${member.looks}-${missing}`);
				member.expected -= 1;
			}
		}
	};
}

const typesOf = (events: readonly RunEvent[]): readonly string[] => events.map(({ type }) => type);

describe("pods under a budget", () => {
	test("are evicted one after the other over all clusters, each under its reservation", async () => {
		const { fleet, pods } = newDatabase();
		replacePods(fleet);
		const run = newRun(fleet);
		const outcomes = await Promise.all(pods.map(({ member, pod }) => run.evictions.evict(run.job(member, pod))));
		expect(outcomes.map(({ kind }) => kind)).toEqual(Array(6).fill("evicted"));
		expect(fleet.mostUnavailable).toBe(1);
		expect(fleet.evictions.map(({ reserved }) => reserved)).toEqual(Array(6).fill(true));
		expect(fleet.evictions[0]?.body).toMatchObject({
			metadata: { annotations: { [reservationAnnotation]: expect.stringMatching(/^id-/) } },
			deleteOptions: { preconditions: { uid: expect.any(String), resourceVersion: expect.any(String) } },
		});
		expect(run.events).toContainEqual(
			expect.objectContaining({
				type: "pod.waiting",
				reason: "BudgetExhausted",
				budget: "shop/db",
				need: 5,
				healthy: 5,
			}),
		);
		// The first grant counted six. Later, only five were healthy.
		expect(run.evictions.healthyAtFirstGrant("shop/db")).toBe(6);
		expect(run.evictions.healthyAtFirstGrant("shop/other")).toBeUndefined();
		expect(run.evictions.counts.terminating).toBe(0);
		expect(run.tally().counts).toEqual({ total: 6, done: 6, waiting: 0, terminating: 0, failed: 0 });
	});

	test("wait by looking, without a round for each look", async () => {
		const { fleet, pods } = newDatabase();
		const [waiting] = pods;
		if (!waiting) throw new Error("no pods");
		const other = fleet.member("us").addPod("db-2", { healthy: false });
		const run = newRun(fleet);
		const ap = fleet.member("ap");
		ap.onLook = () => {
			if (ap.looks === 20) other.healthy = true;
		};
		expect(await run.evictions.evict(run.job(waiting.member, waiting.pod))).toEqual({ kind: "evicted" });
		expect(ap.looks).toBeGreaterThanOrEqual(20);
		expect(ap.rounds).toBeLessThanOrEqual(3);
	});

	test("are looked at as often as ever when they come after all who waited for long have left", async () => {
		const { fleet, pods } = newDatabase();
		const [early, late] = pods;
		if (!early || !late) throw new Error("no pods");
		fleet.member("us").addPod("db-2", { healthy: false });
		const run = newRun(fleet);
		const ap = fleet.member("ap");
		const until = (looks: number, timeout: AbortController) => {
			ap.onLook = () => {
				if (ap.looks >= looks) timeout.abort(new Error("timed out"));
			};
		};
		until(90, run.timeout);
		expect(await run.evictions.evict(run.job(early.member, early.pod))).toMatchObject({ kind: "failed" });
		const timeout = new AbortController();
		until(ap.looks + 2, timeout);
		const job = { ...run.job(late.member, late.pod), timeout: { signal: timeout.signal, text: "9s" } };
		expect(await run.evictions.evict(job)).toMatchObject({ kind: "failed" });
		const waits = run.events.filter((event) => event.type === "pod.waiting");
		const looksOf = (name: string) => waits.filter(({ pod }) => pod === name).map(({ retryAfterMs }) => retryAfterMs);
		expect(looksOf(early.pod.name).at(-1)).toBe(2_000);
		expect(looksOf(late.pod.name)[0]).toBe(300);
	});

	test("are deleted under a reservation with --disable-eviction, with both preconditions", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		const run = newRun(fleet, { options: { gracePeriodSeconds: 5, deletes: true, dryRun: false } });
		expect(await run.evictions.evict(run.job(first.member, first.pod))).toEqual({ kind: "evicted" });
		expect(fleet.evictions).toMatchObject([
			{
				reserved: true,
				body: {
					deleteOptions: {
						gracePeriodSeconds: 5,
						preconditions: { uid: first.pod.uid, resourceVersion: String(first.pod.version) },
					},
				},
			},
		]);
	});

	test("a refusal by the API server gives the reservation back and is tried again after 5 s", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		fleet.refusals.push(
			new ApiError("Cannot evict pod as it would violate the pod's disruption budget.", { code: 429 }),
		);
		const run = newRun(fleet);
		const sentAt: number[] = [];
		fleet.onEviction = () => void sentAt.push(run.runtime.now());
		expect(await run.evictions.evict(run.job(first.member, first.pod))).toEqual({ kind: "evicted" });
		const [refusedAt = Number.NaN, evictedAt = Number.NaN] = sentAt;
		expect(evictedAt - refusedAt).toBeGreaterThanOrEqual(5_000);
		expect(run.events).toContainEqual(
			expect.objectContaining({
				type: "pod.retrying",
				message:
					'error when evicting pods/"db-0" -n "shop" (will retry after 5s): Cannot evict pod as it would violate the pod\'s disruption budget.',
			}),
		);
		expect(first.member.rounds).toBe(2);
	});

	test("wait while their reservation cannot be read, and are not evicted on it", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		const { member, pod } = first;
		const conflict = () => new ApiError("the pod has changed", { code: 409, reason: "Conflict" });
		fleet.refusals.push(conflict(), conflict());
		fleet.onEviction = () => (member.isGarbled = fleet.refusals.length > 0);
		const evictedAtConfirm: number[] = [];
		member.onConfirm = () => {
			evictedAtConfirm.push(fleet.evictions.length);
			if (evictedAtConfirm.length === 3) member.isGarbled = false;
		};
		const run = newRun(fleet);
		expect(await run.evictions.evict(run.job(member, pod))).toEqual({ kind: "evicted" });
		expect(evictedAtConfirm).toEqual([0, 0, 0]);
		expect(run.events).toContainEqual(
			expect.objectContaining({
				type: "pod.waiting",
				reason: "GarbledLease",
				message: 'cannot read Lease "db" in cluster "eu"',
			}),
		);
	});

	test("wait on where a look finds a Lease that cannot be read", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		const other = fleet.member("us").addPod("db-2", { healthy: false });
		const ap = fleet.member("ap");
		ap.onLook = () => (ap.isGarbled = true);
		const events: RunEvent[] = [];
		const emit = (event: RunEvent): void => {
			events.push(event);
			if (event.type !== "pod.waiting" || event.reason !== "GarbledLease") return;
			ap.isGarbled = false;
			other.healthy = true;
		};
		const run = newRun(fleet, { emit });
		expect(await run.evictions.evict(run.job(first.member, first.pod))).toEqual({ kind: "evicted" });
		expect(events).toContainEqual(expect.objectContaining({ type: "pod.waiting", reason: "GarbledLease" }));
	});

	test("a denial fails the pod and gives the reservation back", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		fleet.refusals.push(new ApiError("forbidden", { code: 403 }));
		const run = newRun(fleet);
		expect(await run.evictions.evict(run.job(first.member, first.pod))).toEqual({
			kind: "failed",
			message: 'error when evicting pods/"db-0" -n "shop": forbidden',
			reason: "Forbidden",
			unreachable: false,
		});
		expect(first.member.reservations.size).toBe(0);
	});

	test("a finished pod is deleted at once, whatever the budget has left", async () => {
		const { fleet } = newDatabase();
		const us = fleet.member("us");
		const done = us.addPod("job", { finished: true });
		us.expected -= 1;
		fleet.member("eu").addPod("broken", { healthy: false });
		const run = newRun(fleet);
		expect(await run.evictions.evict(run.job(us, done))).toEqual({ kind: "evicted" });
		expect(fleet.evictions).toMatchObject([{ pod: "job", reserved: false }]);
	});

	test("an invalid budget fails its pods and names the field", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		fleet.budgets = [];
		fleet.addBudget("db", { minAvailable: 1, maxUnavailable: 1 });
		const run = newRun(fleet);
		const outcome = await run.evictions.evict(run.job(first.member, first.pod));
		expect(outcome).toMatchObject({
			kind: "failed",
			message: expect.stringMatching(/budget shop\/db in cluster \w+: .*both set/),
		});
		expect(fleet.evictions).toEqual([]);
	});

	test("a selector that nobody can read covers every pod of the namespace", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		fleet.budgets = [{ name: { namespace, name: "other" }, spec: { selector: { matchLabels: 3 }, maxUnavailable: 1 } }];
		const run = newRun(fleet);
		expect(await run.evictions.evict(run.job(first.member, first.pod))).toMatchObject({
			kind: "failed",
			message: expect.stringContaining("budget shop/other"),
		});
		expect(fleet.evictions).toEqual([]);
	});
});

describe("pods without a budget", () => {
	test("are evicted as kubectl does, by uid", async () => {
		const fleet = new FakeFleet(["eu"]);
		const eu = fleet.member("eu");
		const pod = eu.addPod("web-0");
		const run = newRun(fleet);
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
		expect(eu.rounds).toBe(0);
		expect(fleet.evictions[0]?.body).toEqual({
			apiVersion: "policy/v1",
			kind: "Eviction",
			metadata: { name: "web-0", namespace },
			deleteOptions: { preconditions: { uid: pod.uid } },
		});
		expect(typesOf(run.events)).toEqual(["pod.evicting", "pod.accepted", "pod.evicted"]);
	});

	test("obey a budget that is made while they are refused", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		const eu = fleet.member("eu");
		const pod = eu.addPod("db-0");
		eu.addPod("db-1", { healthy: false });
		fleet.refusals.push(new ApiError("no", { code: 429 }));
		const run = newRun(fleet);
		let tries = 0;
		fleet.onEviction = () => {
			tries += 1;
			if (tries === 1) fleet.addBudget("db", { maxUnavailable: 1 });
		};
		const outcome = run.evictions.evict(run.job(eu, pod));
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		run.timeout.abort();
		const waitedFor =
			"budget shop/db has no disruption left: 1 of 2 healthy, 1 required; used by shop/db-1 in eu: not ready";
		expect(await outcome).toMatchObject({ kind: "failed", waitedFor });
		expect(fleet.evictions).toEqual([]);
	});

	test("that are gone already are done in silence", async () => {
		const fleet = new FakeFleet(["eu"]);
		const eu = fleet.member("eu");
		const pod = eu.addPod("web-0");
		eu.pods.clear();
		const run = newRun(fleet);
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "gone" });
		expect(typesOf(run.events)).toEqual(["pod.evicting", "pod.gone"]);
		expect(eu.reads).toBe(0);
	});

	test("that were replaced under their name are left alone", async () => {
		const fleet = new FakeFleet(["eu"]);
		const eu = fleet.member("eu");
		const pod = eu.addPod("web-0");
		eu.pods.clear();
		eu.addPod("web-0");
		const run = newRun(fleet);
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "gone" });
		expect(eu.pods.size).toBe(1);
	});

	test("in a terminating namespace are tried again in kubectl's words", async () => {
		const fleet = new FakeFleet(["eu"]);
		const eu = fleet.member("eu");
		const pod = eu.addPod("web-0");
		const causes = [{ reason: "NamespaceTerminating", message: "", field: "" }];
		fleet.refusals.push(new ApiError("namespace is terminating", { code: 403, causes }));
		const run = newRun(fleet);
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
		expect(run.events).toContainEqual(
			expect.objectContaining({
				message:
					'error when evicting pod "web-0" from terminating namespace "shop" (will retry after 5s): namespace is terminating',
			}),
		);
	});
});

describe("members without an answer", () => {
	test("stop all evictions until they are back", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		fleet.member("ap").isDown = true;
		const run = newRun(fleet);
		const outcome = run.evictions.evict(run.job(first.member, first.pod));
		await expect.poll(() => run.events.filter(({ type }) => type === "cluster.unreachable").length).toBeGreaterThan(3);
		expect(fleet.evictions).toEqual([]);
		fleet.member("ap").isDown = false;
		expect(await outcome).toEqual({ kind: "evicted" });
		expect(run.events).toContainEqual(expect.objectContaining({ type: "cluster.recovered", cluster: "ap" }));
	});

	test("make a timeout a failure for lack of an answer", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		fleet.member("ap").isDown = true;
		const run = newRun(fleet);
		const outcome = run.evictions.evict(run.job(first.member, first.pod));
		await expect.poll(() => run.events.length).toBeGreaterThan(0);
		run.timeout.abort();
		expect(await outcome).toEqual({
			kind: "failed",
			message: 'error when evicting pods/"db-0" -n "shop": global timeout reached: 9s: cannot call ListBudgets',
			reason: "PeerUnreachable",
			unreachable: true,
			waitedFor: "cannot call ListBudgets",
		});
	});
});

describe("a stop", () => {
	test("ends those that wait", async () => {
		const { fleet, pods } = newDatabase();
		fleet.member("us").addPod("broken", { healthy: false });
		const run = newRun(fleet);
		const outcomes = pods.map(({ member, pod }) => run.evictions.evict(run.job(member, pod)));
		await expect.poll(() => run.tally().counts.waiting).toBe(6);
		run.stop.abort(new Error("interrupted"));
		expect((await Promise.all(outcomes)).map(({ kind }) => kind)).toEqual(Array(6).fill("stopped"));
		await run.evictions.settled();
		expect(fleet.evictions).toEqual([]);
		expect(run.tally().counts.done).toBe(0);
	});

	test("gives back what was granted and not sent", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		const run = newRun(fleet);
		const { member } = first;
		const commit = member.commit.bind(member);
		member.commit = async (...args) => {
			const outcome = await commit(...args);
			run.stop.abort(new Error("interrupted"));
			return outcome;
		};
		expect(await run.evictions.evict(run.job(member, first.pod))).toEqual({ kind: "stopped" });
		await run.evictions.settled();
		expect(fleet.evictions).toEqual([]);
		expect(member.reservations.size).toBe(0);
		expect(run.leftBehind).toEqual([]);
	});

	test("lets an eviction finish that was sent", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		const run = newRun(fleet);
		fleet.onEviction = () => run.stop.abort(new Error("interrupted"));
		expect(await run.evictions.evict(run.job(first.member, first.pod))).toEqual({ kind: "evicted" });
	});
});

test("a timeout of 0 never comes", () => {
	expect(createTimeout(0, "0s").signal.aborted).toBe(false);
});

test("a timeout below 0 is over at once", () => {
	expect(createTimeout(-1, "-1ms").signal.aborted).toBe(true);
});
