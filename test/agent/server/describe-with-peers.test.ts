import { describe, expect, test } from "vitest";
import { describeWithPeers, maxSpecLength, othersWithinMs } from "../../../agent/server/describe-with-peers.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import type { AgentDescription, BudgetList } from "../../../proto/agent-cluster.ts";
import { createFakeCluster } from "../../support/fake-cluster.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import * as samples from "../../support/samples.ts";

const silent = new AgentUnavailableError("No answer", "us-1");

function member(name: string, change: Partial<AgentDescription> = {}) {
	const description = { ...samples.description, clusterId: `${name}-id`, clusterName: name, ...change };
	return createFakeCluster({ describe: async () => description }, description.clusterId, name);
}

function listOf(name: string, length: number): BudgetList {
	return {
		clusterId: `${name}-id`,
		fleetHash: "5f",
		budgets: [{ name: { namespace: "shop", name: "db" }, spec: "x".repeat(length - 2) }],
	};
}

describe("describeWithPeers()", () => {
	test("tells what the cluster and each other member say, asked for the same budgets", async () => {
		const [eu, us, ap] = [
			member("eu", { budgets: listOf("eu", 10) }),
			member("us", { budgets: listOf("us", 10) }),
			member("ap"),
		];
		const told = await describeWithPeers(eu, {
			budgetsOf: ["shop"],
			others: Promise.resolve([Promise.resolve(us), Promise.resolve(ap)]),
			clock: createManualClock(),
		});
		expect(told).toMatchObject({ clusterName: "eu", budgets: listOf("eu", 10) });
		expect(told.others).toMatchObject([{ clusterName: "us", budgets: listOf("us", 10) }, { clusterName: "ap" }]);
		for (const each of [eu, us, ap]) expect(each.asked).toEqual([["describe", ["shop"]]]);
	});

	test("goes without a member that fails, that no way leads to, or that is slow", async () => {
		const clock = createManualClock();
		const failing = createFakeCluster({ describe: () => Promise.reject(silent) }, "us-id", "us");
		const slow = createFakeCluster({ describe: () => new Promise(() => undefined) }, "ap-id", "ap");
		const telling = describeWithPeers(member("eu"), {
			budgetsOf: undefined,
			others: Promise.resolve([
				Promise.resolve(failing),
				Promise.reject(silent),
				Promise.resolve(slow),
				Promise.resolve(member("sa")),
			]),
			clock,
		});
		await expect.poll(() => slow.asked).toHaveLength(1);
		clock.advance(othersWithinMs - 1);
		let isTold = false;
		const told = telling.finally(() => (isTold = true));
		await new Promise(setImmediate);
		expect(isTold).toBe(false);
		clock.advance(1);
		expect((await told).others?.map(({ clusterName }) => clusterName)).toEqual(["sa"]);
	});

	test("goes without the others where the fleet cannot be read, and fails where the cluster itself does", async () => {
		const clock = createManualClock();
		const unread = { budgetsOf: undefined, others: Promise.reject(silent), clock };
		expect(await describeWithPeers(member("eu"), unread)).toEqual(await member("eu").describe());
		const failing = createFakeCluster({ describe: () => Promise.reject(silent) });
		await expect(describeWithPeers(failing, { ...unread, others: Promise.resolve([]) })).rejects.toBe(silent);
	});

	test("leaves out budgets that are many, for one member as for another", async () => {
		const fits = member("eu", { budgets: listOf("eu", maxSpecLength) });
		const many = member("us", { budgets: listOf("us", maxSpecLength + 1) });
		const told = await describeWithPeers(fits, {
			budgetsOf: [],
			others: Promise.resolve([Promise.resolve(many)]),
			clock: createManualClock(),
		});
		expect(told.budgets?.budgets).toHaveLength(1);
		expect(told.others).toEqual([expect.not.objectContaining({ budgets: expect.anything() })]);
	});
});
