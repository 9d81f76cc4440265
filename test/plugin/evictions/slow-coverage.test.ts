// Tests fleets that take long to find out which budgets cover a pod.
import { describe, expect, test } from "vitest";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

describe("pods that no budget of their namespace selects", () => {
	const forever = new AbortController().signal;
	const newWeb = () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 1 });
		const eu = fleet.member("eu");
		return { fleet, eu, us: fleet.member("us"), pod: eu.addPod("web-0", { labels: { app: "web" } }) };
	};

	test("go in the version that was read, however long the reading took", async () => {
		const { fleet, eu, pod } = newWeb();
		const run = newRun(fleet);
		eu.onRead = () => run.runtime.sleep(1_200, forever);
		fleet.onList = () => run.runtime.sleep(300, forever);
		const outcome = run.evictions.evict(run.job(eu, pod, Number.NEGATIVE_INFINITY));
		await expect
			.poll(() => fleet.evictions.length + run.events.filter(({ type }) => type === "pod.waiting").length)
			.toBe(1);
		run.timeout.abort();
		expect(await outcome).toEqual({ kind: "evicted" });
		expect(fleet.evictions[0]?.body).toMatchObject({
			deleteOptions: { preconditions: { uid: pod.uid, resourceVersion: String(pod.version) } },
		});
	});

	test("wait where the lists of budgets always take longer than a second, and a timeout is one for lack of an answer", async () => {
		const { fleet, eu, us, pod } = newWeb();
		const run = newRun(fleet);
		us.tookMs = 1_400;
		fleet.onList = () => run.runtime.sleep(1_400, forever);
		const outcome = run.evictions.evict(run.job(eu, pod));
		await expect.poll(() => run.events.some(({ type }) => type === "pod.waiting")).toBe(true);
		const message =
			"cluster us took 1.4 s to list its budgets. A list older than 1 s may miss a new budget, so it cannot be used: is its API server slow?";
		expect(run.events).toContainEqual(
			expect.objectContaining({ type: "pod.waiting", reason: "PeerUnreachable", message }),
		);
		run.timeout.abort();
		expect(await outcome).toEqual({
			kind: "failed",
			message: `error when evicting pods/"web-0" -n "shop": global timeout reached: 9s: ${message}`,
			reason: "PeerUnreachable",
			unreachable: true,
			waitedFor: message,
		});
		expect(fleet.evictions).toEqual([]);
	});

	test("are reported once, although the first eviction was held up and the next lists took too long", async () => {
		const { fleet, eu, us, pod } = newWeb();
		const run = newRun(fleet);
		us.tookMs = 1_400;
		fleet.beforeSending = () => {
			if (fleet.lists > 1) return undefined;
			fleet.onList = () => (fleet.lists < 8 ? run.runtime.sleep(1_400, forever) : undefined);
			return run.runtime.sleep(1_200, forever);
		};
		expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
		const types = run.events.map(({ type }) => type);
		expect(types.filter((type) => type === "pod.waiting")).toHaveLength(1);
		expect(types.filter((type) => type === "pod.evicting")).toHaveLength(1);
	});

	test("are over with their timeout, also while a member does not answer at all", async () => {
		const { fleet, eu, pod } = newWeb();
		const run = newRun(fleet);
		const asked = Promise.withResolvers<void>();
		fleet.onList = () => {
			asked.resolve();
			return new Promise(() => undefined);
		};
		const outcome = run.evictions.evict(run.job(eu, pod));
		await asked.promise;
		run.timeout.abort();
		expect(await outcome).toMatchObject({ kind: "failed" });
		await run.evictions.settled();
		expect(fleet.evictions).toEqual([]);
	});

	test("go also where there are hundreds, and the more is asked at once the longer each answer takes", async () => {
		const { fleet, eu } = newWeb();
		const pods = Array.from({ length: 300 }, (_, index) => eu.addPod(`cart-${index}`, { labels: { app: "cart" } }));
		const run = newRun(fleet, { waitsUntilGone: false });
		let reading = 0;
		let mostReading = 0;
		eu.onRead = async () => {
			reading += 1;
			mostReading = Math.max(mostReading, reading);
			await run.runtime.sleep(10 * reading, forever);
			reading -= 1;
		};
		fleet.onList = () => run.runtime.sleep(10 * reading, forever);
		const outcomes = Promise.all(pods.map((pod) => run.evictions.evict(run.job(eu, pod, Number.NEGATIVE_INFINITY))));
		await expect
			.poll(() => fleet.evictions.length + run.events.filter(({ type }) => type === "pod.waiting").length)
			.toBeGreaterThanOrEqual(300);
		run.timeout.abort();
		expect((await outcomes).filter(({ kind }) => kind !== "evicted")).toEqual([]);
		expect(mostReading).toBeLessThanOrEqual(32);
	});

	test("are not read any more after a stop", async () => {
		const { fleet, eu } = newWeb();
		const pods = Array.from({ length: 100 }, (_, index) => eu.addPod(`cart-${index}`, { labels: { app: "cart" } }));
		const run = newRun(fleet, { waitsUntilGone: false });
		const slow = Promise.withResolvers<void>();
		fleet.onList = () => slow.promise;
		const outcomes = Promise.all(pods.map((pod) => run.evictions.evict(run.job(eu, pod, Number.NEGATIVE_INFINITY))));
		await expect.poll(() => fleet.lists).toBe(1);
		run.stop.abort();
		slow.resolve();
		const kinds = (await outcomes).map(({ kind }) => kind);
		expect(kinds.filter((kind) => kind === "stopped").length).toBeGreaterThanOrEqual(100 - 32);
		expect(eu.reads).toBeLessThanOrEqual(32);
	});
});
