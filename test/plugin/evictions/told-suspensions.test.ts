import { describe, expect, test } from "vitest";
import { formatSuspension } from "../../../disruption/budget/suspension.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { newRun } from "../../support/eviction-run.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

const by = { by: "alice@laptop", since: "2026-01-01T00:00:00.000Z", reason: "storage\nmigration" };
const now = Date.parse("2026-01-01T00:12:00.000Z");
const message =
	"budget shop/db is suspended and blocks no eviction, by alice@laptop for 12m00s: storage\\u000amigration";

/** Creates three pods in one cluster, under a budget that is suspended and allows no disruption, or is not suspended and allows one. */
function suspended({ suspend, annotation }: { readonly suspend: boolean; readonly annotation?: string }) {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("db", { maxUnavailable: suspend ? 0 : 1, suspend });
	if (annotation !== undefined) {
		fleet.budgets = fleet.budgets.map((budget) => ({ ...budget, suspension: annotation }));
	}
	const member = fleet.member("eu");
	return { fleet, member, pods: ["db-0", "db-1", "db-2"].map((name) => member.addPod(name)) };
}

const warnings = (events: readonly RunEvent[]) => events.filter(({ type }) => type === "diagnostic");
const warning = { type: "diagnostic", level: "warning", reason: "BudgetSuspended", budget: "shop/db" } as const;

describe("a suspended budget that covers pods of a run", () => {
	for (const dryRun of [false, true]) {
		test(`is told once, with how long, by whom and why${dryRun ? ", in a dry run too" : ""}`, async () => {
			const { fleet, member, pods } = suspended({ suspend: true, annotation: formatSuspension(by) });
			const options = { gracePeriodSeconds: -1, deletes: false, dryRun };
			const run = newRun(fleet, { wallClock: () => now, options });
			const outcomes = await Promise.all(pods.map((pod) => run.evictions.evict(run.job(member, pod))));
			expect(outcomes.map(({ kind }) => kind)).toEqual(["evicted", "evicted", "evicted"]);
			expect(warnings(run.events)).toEqual([{ ...warning, suspension: by, message }]);
			expect(run.events[0]).toMatchObject(warning);
		});
	}

	test("is told where nothing says by whom", async () => {
		const { fleet, member, pods } = suspended({ suspend: true, annotation: "by hand" });
		const run = newRun(fleet);
		await Promise.all(pods.map((pod) => run.evictions.evict(run.job(member, pod))));
		expect(warnings(run.events)).toEqual([
			{ ...warning, message: "budget shop/db is suspended and blocks no eviction, it does not say by whom" },
		]);
	});

	test("is told where it is suspended while pods of the run wait for it", async () => {
		const fleet = new FakeFleet(["eu", "us"]);
		fleet.addBudget("db", { maxUnavailable: 0 });
		const member = fleet.member("eu");
		const run = newRun(fleet, { wallClock: () => now });
		const waiting = run.evictions.evict(run.job(member, member.addPod("db-0")));
		await run.runtime.sleep(2_000, new AbortController().signal);
		expect(warnings(run.events)).toEqual([]);
		fleet.budgets = fleet.budgets.map(({ name, spec }) => ({
			name,
			spec: { ...(spec as object), suspend: true },
			suspension: formatSuspension(by),
		}));
		expect(await waiting).toEqual({ kind: "evicted" });
		expect(warnings(run.events)).toEqual([{ ...warning, suspension: by, message }]);
	});

	test("is no matter while it holds, whatever its annotation says", async () => {
		const { fleet, member, pods } = suspended({ suspend: false, annotation: formatSuspension(by) });
		const run = newRun(fleet, { wallClock: () => now });
		await run.evictions.evict(run.job(member, pods[0] ?? member.addPod("db-3")));
		expect(warnings(run.events)).toEqual([]);
	});
});
