import { describe, expect, test } from "vitest";
import { formatSuspension } from "../../../disruption/budget/suspension.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { ToldSuspensions } from "../../../plugin/evictions/told-suspensions.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

const by = { by: "alice@laptop", since: "2026-01-01T00:00:00.000Z", reason: "storage migration" };
const now = Date.parse("2026-01-01T00:12:00.000Z");
const labels = { app: "db" };
const pods = ["db-0", "db-1"].map((name) => newV1Pod(name, { namespace: "shop", labels }));

function suspend(fleet: FakeFleet, annotation = formatSuspension(by)): void {
	fleet.budgets = fleet.budgets.map(({ name, spec }) => ({
		name,
		spec: { ...(spec as object), suspend: true },
		suspension: annotation,
	}));
}

describe("suspended budgets that are told before pods are evicted", () => {
	test("tells a suspended budget of the pods before they are evicted, and not once more", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 1 });
		const events: RunEvent[] = [];
		const emit = (event: RunEvent): void => void events.push(event);
		const suspensions = new ToldSuspensions({ emit, wallClock: () => now });
		suspensions.tellOfPods(pods, await fleet.listBudgets(["shop"]));
		expect(events).toEqual([]);
		suspend(fleet);
		suspensions.tellOfPods(pods, await fleet.listBudgets(["shop"]));
		const told = { type: "diagnostic", level: "warning", reason: "BudgetSuspended", budget: "shop/db", suspension: by };
		expect(events).toEqual([expect.objectContaining(told)]);

		const member = fleet.member("eu");
		const run = newRun(fleet, { wallClock: () => now + 60_000, emit, suspensions });
		expect(await run.evictions.evict(run.job(member, member.addPod("db-0")))).toEqual({ kind: "evicted" });
		expect(events.filter(({ type }) => type === "diagnostic")).toHaveLength(1);
		expect(events.map(({ type }) => type)).toContain("pod.evicted");

		// A suspension that changes during the run is reported again.
		suspend(fleet, formatSuspension({ ...by, by: "bob@laptop" }));
		expect(await run.evictions.evict(run.job(member, member.addPod("db-1")))).toEqual({ kind: "evicted" });
		expect(events.filter(({ type }) => type === "diagnostic")).toHaveLength(2);
	});

	test("says nothing of budgets that cover other pods", async () => {
		const fleet = new FakeFleet(["eu"]);
		fleet.addBudget("db", { maxUnavailable: 1 });
		suspend(fleet);
		const events: RunEvent[] = [];
		const emit = (event: RunEvent): void => void events.push(event);
		const suspensions = new ToldSuspensions({ emit, wallClock: () => now });
		suspensions.tellOfPods(
			[newV1Pod("web-0", { namespace: "shop", labels: { app: "web" } })],
			await fleet.listBudgets(["shop"]),
		);
		suspensions.tellOfPods([newV1Pod("db-0", { namespace: "other", labels })], await fleet.listBudgets(["other"]));
		expect(events).toEqual([]);
	});
});
