// Tests what all pods of a round share, and that no pod delays the others. Changes of the code for one pod easily break both.
import { expect, test } from "vitest";
import { runRound } from "../../../disruption/round/round.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet, FakeMember } from "../../support/fake-fleet.ts";

const forever = new AbortController().signal;

test("pods whose requests get no answer do not keep others from being judged", async () => {
	const fleet = new FakeFleet(["eu", "us"]);
	const eu = fleet.member("eu");
	const pods = Array.from({ length: 40 }, (_, index) => eu.addPod(`web-${index}`, { labels: { app: "web" } }));
	const answers = Promise.withResolvers<void>();
	let sent = 0;
	fleet.beforeSending = () => {
		sent += 1;
		return answers.promise;
	};
	const run = newRun(fleet);
	const outcomes = Promise.all(pods.map((pod) => run.evictions.evict(run.job(eu, pod))));
	// Fewer are judged at the same time.
	await expect.poll(() => sent).toBe(40);
	answers.resolve();
	expect((await outcomes).map(({ kind }) => kind)).toEqual(Array(40).fill("evicted"));
});

test("a member without an answer is told once for each round, however many pods wait", async () => {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("db", { maxUnavailable: 3 });
	const eu = fleet.member("eu");
	const us = fleet.member("us");
	const pods = ["db-0", "db-1", "db-2"].map((name) => eu.addPod(name));
	let rounds = 0;
	const run = newRun(fleet, {
		async runRound(input, runtime) {
			rounds += 1;
			us.isDown = rounds <= 2;
			return runRound(input, runtime);
		},
	});
	const outcomes = await Promise.all(pods.map((pod) => run.evictions.evict(run.job(eu, pod))));
	expect(outcomes.map(({ kind }) => kind)).toEqual(["evicted", "evicted", "evicted"]);
	const lost = run.events.filter(({ type }) => type === "cluster.unreachable");
	expect(lost).toHaveLength(2);
	expect(run.events.filter(({ type }) => type === "cluster.recovered")).toHaveLength(1);
});

test("a grant is used at the members of its round, whoever the members are by then", async () => {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("db", { maxUnavailable: 1 });
	const eu = fleet.member("eu");
	const pod = eu.addPod("db-0");
	fleet.member("us").addPod("db-0");
	// The run discovers its fleet again after the round, and then has another connection to the same cluster.
	const again = new FakeMember("eu", fleet);
	const run = newRun(fleet, {
		async runRound(input, runtime) {
			const outcome = await runRound(input, runtime);
			fleet.members = [again, fleet.member("us")];
			return outcome;
		},
	});
	let confirmedAgain = 0;
	again.onConfirm = () => {
		confirmedAgain += 1;
	};
	let confirmed = 0;
	eu.onConfirm = () => {
		confirmed += 1;
	};
	// The first request is sent so late that the grant must be confirmed.
	let sends = 0;
	fleet.beforeSending = async () => {
		sends += 1;
		if (sends === 1) await run.runtime.sleep(1_500, forever);
	};
	expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
	expect({ confirmed: confirmed > 0, confirmedAgain }).toEqual({ confirmed: true, confirmedAgain: 0 });
	expect(fleet.evictions).toMatchObject([{ cluster: "eu", reserved: true }]);
});
