// Tests pods that are scheduled but have not started.
import { expect, test } from "vitest";
import { createEvictor } from "../../../plugin/evictions/send-eviction.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet, type FakePod } from "../../support/fake-fleet.ts";

/** Creates two pods that have not started, under a budget that is used up. */
function newWorld() {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("db", { maxUnavailable: 1 });
	const eu = fleet.member("eu");
	const pods = ["db-0", "db-1"].map((name): FakePod => {
		const pod = eu.addPod(name, { healthy: false });
		pod.pending = true;
		return pod;
	});
	const [pod] = pods;
	if (!pod) throw new Error("no pod");
	const options = { gracePeriodSeconds: -1, deletes: false, dryRun: false };
	const run = newRun(fleet, { evictor: createEvictor(options, () => undefined) });
	const job = { ...run.job(eu, pod) };
	job.seen = { ...job.seen, hasNotStarted: true };
	return { fleet, eu, pod, run, job };
}

function change(pod: FakePod, more: Partial<FakePod>): void {
	Object.assign(pod, more);
	pod.version += 100;
}

test("a pod that has not started goes at once, whatever its budget says", async () => {
	const { fleet, run, job } = newWorld();
	expect(await run.evictions.evict(job)).toEqual({ kind: "evicted" });
	expect(fleet.evictions).toMatchObject([{ pod: "db-0", reserved: false }]);
});

test("one that has started since it was listed needs a grant", async () => {
	const { fleet, eu, pod, run, job } = newWorld();
	change(pod, { pending: false, healthy: true });
	for (const each of eu.pods.values()) change(each, { pending: false, healthy: true });
	expect(await run.evictions.evict(job)).toEqual({ kind: "evicted" });
	expect(fleet.evictions).toMatchObject([{ pod: "db-0", reserved: true }]);
});

test("one that starts while the plugin logs in is not evicted by what was read before", async () => {
	const { fleet, eu, run, job } = newWorld();
	fleet.beforeSending = async () => {
		fleet.beforeSending = async () => undefined;
		for (const each of eu.pods.values()) change(each, { pending: false, healthy: true });
	};
	expect(await run.evictions.evict(job)).toEqual({ kind: "evicted" });
	expect(fleet.evictions.filter(({ reserved }) => !reserved)).toEqual([]);
});

test("one is read again where the API server was away for long: etcd may have come back from a backup, with that version", async () => {
	const { fleet, eu, run, job } = newWorld();
	const never = new AbortController().signal;
	fleet.beforeSending = async () => {
		fleet.beforeSending = async () => undefined;
		await run.runtime.sleep(60_000, never);
		for (const each of eu.pods.values()) Object.assign(each, { pending: false, healthy: true });
	};
	expect(await run.evictions.evict(job)).toEqual({ kind: "evicted" });
	expect(fleet.evictions.filter(({ reserved }) => !reserved)).toEqual([]);
});

test("one with a pre-activity waits for it", async () => {
	const { fleet, pod, run, job } = newWorld();
	change(pod, { annotations: { "pre-activity.xpdb.form3.tech/backup": "" } });
	const outcome = run.evictions.evict(job);
	await run.runtime.sleep(1_000, new AbortController().signal);
	run.stop.abort();
	expect(await outcome).toEqual({ kind: "stopped" });
	expect(fleet.evictions).toEqual([]);
});
