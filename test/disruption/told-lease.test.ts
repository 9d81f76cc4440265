import { describe, expect, test } from "vitest";
import { AgentUnavailableError, LeaseLostError } from "../../disruption/errors.ts";
import { runRound } from "../../disruption/round/round.ts";
import type { RoundObserver } from "../../disruption/round/round-runtime.ts";
import { ToldLease } from "../../disruption/round/told-lease.ts";
import { databaseSelector, FakeFleet, namespace } from "../support/fake-fleet.ts";
import { createFastRuntime } from "../support/fast-runtime.ts";

const budget = { namespace, name: "db" };
const lease = { budget, cluster: "eu", holder: "drain-7f3c" };

function newObserver() {
	const told: unknown[] = [];
	const observer: Partial<RoundObserver> = {
		leaseAcquired: ({ cluster, holder, leaseDurationMs }) => told.push(["acquired", cluster, holder, leaseDurationMs]),
		leaseReleased: ({ cluster, heldMs }) => told.push(["released", cluster, heldMs]),
		leaseLost: ({ cluster, heldMs, message }) => told.push(["lost", cluster, heldMs, message]),
	};
	return { told, observer };
}

function setUp() {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("db", { maxUnavailable: 1 });
	const { told, observer } = newObserver();
	const eu = fleet.member("eu");
	const pod = eu.addPod("db-0");
	const round = () =>
		runRound(
			{
				clusters: fleet.members,
				budgets: [{ name: budget, selector: databaseSelector }],
				holder: "drain-7f3c",
				candidates: [{ clusterId: eu.id, pod: { namespace, name: pod.name, uid: pod.uid } }],
				signal: new AbortController().signal,
				observer,
			},
			createFastRuntime(),
		);
	return { fleet, eu, told, round };
}

const namesOf = (told: readonly unknown[]) =>
	told.map((each) => (Array.isArray(each) ? each.slice(0, 2).join(" ") : "")).toSorted();

describe("a round tells of every Lease", () => {
	test.each([
		["granted", true],
		["waiting", false],
	])("where its pod is %s", async (kind, healthy) => {
		const { fleet, told, round } = setUp();
		fleet.member("us").addPod("db-1", { healthy });
		expect(await round()).toMatchObject([{ kind }]);
		expect(namesOf(told)).toEqual(["acquired eu", "acquired us", "released eu", "released us"]);
		expect(told).toContainEqual(["acquired", "eu", "drain-7f3c", 10_000]);
	});

	test("that a commit finds to be lost", async () => {
		const { eu, told, round } = setUp();
		eu.commit = async () => ({ kind: "lost", reason: "not held" });
		await expect(round()).rejects.toBeInstanceOf(LeaseLostError);
		expect(namesOf(told)).toEqual(["acquired eu", "acquired us", "lost eu", "released us"]);
	});

	test("but not of the end of one that could not be given back", async () => {
		const { fleet, told, round } = setUp();
		const us = fleet.member("us");
		us.addPod("db-1", { healthy: false });
		us.release = async () => {
			throw new AgentUnavailableError("cannot call Release", "us");
		};
		expect(await round()).toHaveLength(1);
		expect(namesOf(told)).toEqual(["acquired eu", "acquired us", "released eu"]);
	});
});

describe("ToldLease", () => {
	const newLease = () => {
		const { told, observer } = newObserver();
		let at = 0;
		return { told, lease: new ToldLease(lease, { now: () => (at += 10) }, observer) };
	};

	test("tells its end once", async () => {
		const { told, lease } = newLease();
		const lost = lease.unlessLost(Promise.reject(new LeaseLostError("not held")));
		await expect(lost).rejects.toThrow("not held");
		lease.lost("not held");
		lease.released();
		expect(told).toEqual([["lost", "eu", 10, "not held"]]);
	});

	test("tells nothing of other failures, nor of what is left to end by itself", async () => {
		const { told, lease } = newLease();
		const failed = lease.unlessLost(Promise.reject(new AgentUnavailableError("no answer", "eu")));
		await expect(failed).rejects.toThrow("no answer");
		lease.leave();
		lease.released();
		expect(told).toEqual([]);
	});
});
