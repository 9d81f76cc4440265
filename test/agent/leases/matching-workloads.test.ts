import { describe, expect, test } from "vitest";
import type { WorkloadRecord } from "../../../agent/cluster-api/workload-record.ts";
import { MissingRightError } from "../../../agent/kubernetes/api-refusal.ts";
import { matchingWorkloads, shownWorkloads } from "../../../agent/leases/matching-workloads.ts";
import type { WorkloadView } from "../../../agent/views/workload-view.ts";
import { labels, selector } from "../../support/build-count.ts";
import { losing, unavailable } from "../../support/simulated-agent.ts";
import { simulateCount } from "./count-world.ts";

const workload = (name: string, more: Partial<WorkloadRecord> = {}): WorkloadRecord => ({
	apiVersion: "apps/v1",
	kind: "StatefulSet",
	namespace: "shop",
	name,
	uid: `uid-of-${name}`,
	resourceVersion: "5",
	labels,
	isOfDeployment: false,
	...more,
});

function setUp({ isProven }: { readonly isProven: boolean }) {
	const calls: string[] = [];
	const shown = [workload("shown")];
	const view: WorkloadView = {
		isProven: (namespace) => {
			calls.push(`proven ${namespace}`);
			return isProven;
		},
		wanted: (namespace) => void calls.push(`wanted ${namespace}`),
		workloads: () => shown,
		shownScale: () => undefined,
	};
	const listWorkloads = async (namespace: string) => {
		calls.push(`list ${namespace}`);
		return [workload("listed")];
	};
	const find = () => matchingWorkloads("shop", selector, { api: { listWorkloads }, workloads: view });
	return { calls, find };
}

describe("matchingWorkloads()", () => {
	test("are those of the watches where these are proven", async () => {
		const { calls, find } = setUp({ isProven: true });
		expect(await find()).toMatchObject({ kind: "listed", workloads: [{ name: "shown" }] });
		expect(calls).toEqual(["wanted shop", "proven shop"]);
	});

	test("are listed in the budget's namespace where they are not", async () => {
		const { calls, find } = setUp({ isProven: false });
		expect(await find()).toMatchObject({ kind: "listed", workloads: [{ name: "listed" }] });
		expect(calls).toEqual(["wanted shop", "proven shop", "list shop"]);
	});

	test("are none where there are more than a count can ask, and the number of expected pods is unknown", async () => {
		const all = Array.from({ length: 3_001 }, (_, index) => workload(`db-${index}`));
		const find = (count: number) =>
			matchingWorkloads("shop", selector, { api: { listWorkloads: async () => all.slice(0, count) } });
		expect(await find(3_000)).toMatchObject({ kind: "listed" });
		const reason = expect.stringContaining("more than 3000 workloads in namespace shop");
		expect(await find(3_001)).toEqual({ kind: "unlisted", expected: { kind: "unknown", reason } });
		const view: WorkloadView = {
			isProven: () => true,
			wanted: () => undefined,
			workloads: () => all,
			shownScale: () => undefined,
		};
		expect(shownWorkloads("shop", selector, { workloads: view })).toEqual([]);
	});

	test("are those whose template the budget selects, without ReplicaSets of Deployments", async () => {
		const all = [
			workload("db"),
			workload("other", { labels: { app: "other" } }),
			workload("owned", { kind: "ReplicaSet", isOfDeployment: true }),
		];
		const api = { listWorkloads: async () => all };
		const found = await matchingWorkloads("shop", selector, { api });
		expect(found).toEqual({
			kind: "listed",
			workloads: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "uid-of-db" }],
		});
	});

	test("are unknown, by the name of the reason, where the agent may not list them", async () => {
		const listWorkloads = () =>
			Promise.reject(new MissingRightError("the agent has no permission to list deployments.apps", "eu-1"));
		expect(await matchingWorkloads("shop", selector, { api: { listWorkloads } })).toEqual({
			kind: "unlisted",
			expected: {
				kind: "unknown",
				reason:
					"its agent may not list the workloads whose pods it should expect: the agent has no permission to list deployments.apps",
				cause: "WorkloadsNotListed",
			},
		});
	});

	test("reject where the API server does not answer: none that could be read are not none", async () => {
		const listWorkloads = () => Promise.reject(unavailable);
		await expect(matchingWorkloads("shop", selector, { api: { listWorkloads } })).rejects.toBe(unavailable);
	});
});

describe("a count", () => {
	test("expects a workload all of whose pods are gone, which the Lease does not remember", async () => {
		const { count, server, db0, db1, db2, see } = simulateCount();
		for (const pod of [db0, db1, db2]) server.removePod(pod);
		see();
		expect((await count()).count).toMatchObject({ expected: { kind: "known", pods: 3 }, healthy: 0 });
	});

	test("does not expect one that was deleted", async () => {
		const { count, server, controller, db0, db1, db2, see } = simulateCount();
		for (const pod of [db0, db1, db2]) server.removePod(pod);
		server.deleteController(controller, "shop");
		see();
		expect((await count()).count.expected).toEqual({ kind: "known", pods: 0 });
	});

	test("expects as many as are wanted now, whether pods are there or not", async () => {
		const { count, server, controller, db0, db1, db2, see } = simulateCount();
		for (const pod of [db0, db1, db2]) server.removePod(pod);
		see();
		for (const replicas of [5, 0]) {
			server.putController({ ...controller, namespace: "shop", replicas });
			expect((await count()).count.expected).toEqual({ kind: "known", pods: replicas });
		}
	});

	test("expects one whose template matches, though its pods were given other labels", async () => {
		const { count, server, db0, db1, db2, see } = simulateCount();
		for (const pod of [db0, db1, db2]) server.changePod(pod, { labels: {} });
		see();
		expect((await count()).count.expected).toEqual({ kind: "known", pods: 3 });
	});

	test("rejects where workloads cannot be listed", async () => {
		const { count, faults } = simulateCount();
		faults.before = losing("list workloads");
		await expect(count()).rejects.toBe(unavailable);
	});
});
