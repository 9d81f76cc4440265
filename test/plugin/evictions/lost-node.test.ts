// Tests that no pod of a node is evicted after another run has taken over the node.
import { describe, expect, test } from "vitest";
import type { EvictionJob, Hold } from "../../../plugin/evictions/eviction-job.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

/** now() loses the hold at once, and lose() at the next confirmation. */
function newHold() {
	const lost = new AbortController();
	let confirmed = 0;
	let isLost = false;
	const hold: Hold = {
		lost: lost.signal,
		async confirm() {
			confirmed += 1;
			if (isLost) lost.abort(new Error("taken over"));
		},
	};
	return {
		hold,
		lose: () => void (isLost = true),
		now: () => lost.abort(new Error("taken over")),
		confirmed: () => confirmed,
	};
}

const under = (job: EvictionJob, hold: Hold): EvictionJob => ({
	...job,
	hold,
	timeout: { ...job.timeout, signal: AbortSignal.any([job.timeout.signal, hold.lost]) },
});

describe("a pod of a node that the run has lost", () => {
	for (const isCovered of [true, false]) {
		test(`is not evicted${isCovered ? " under a grant, which is given back" : " without a grant"}`, async () => {
			const fleet = new FakeFleet(["eu", "us"]);
			if (isCovered) fleet.addBudget("db", { maxUnavailable: 2 });
			const member = fleet.member("eu");
			const [first, second] = ["db-0", "db-1"].map((name) => member.addPod(name));
			if (!first || !second) throw new Error("no pods");
			const run = newRun(fleet, { waitsUntilGone: false });
			const { hold, lose, confirmed } = newHold();
			expect(await run.evictions.evict(under(run.job(member, first), hold))).toEqual({ kind: "evicted" });
			expect(confirmed()).toBeGreaterThan(0);
			lose();
			expect(await run.evictions.evict(under(run.job(member, second), hold))).toEqual({ kind: "stopped" });
			await run.evictions.settled();
			expect(fleet.evictions.map(({ pod }) => pod)).toEqual(["db-0"]);
			expect(fleet.members.map(({ reservations }) => reservations.size)).toEqual([0, 0]);
			expect(run.events.filter(({ type }) => type === "pod.failed")).toEqual([]);
			expect(run.events.at(-1)).toMatchObject({ type: "pod.stopped", pod: "db-1" });
		});
	}

	test("waits no longer for its budget", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 0 });
		const member = fleet.member("eu");
		const pod = member.addPod("db-0");
		const run = newRun(fleet);
		const { hold, now } = newHold();
		const waiting = run.evictions.evict(under(run.job(member, pod), hold));
		await run.runtime.sleep(1_000, new AbortController().signal);
		now();
		expect(await waiting).toEqual({ kind: "stopped" });
		expect(fleet.evictions).toEqual([]);
	});
});
