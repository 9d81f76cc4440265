import { describe, expect, test } from "vitest";
import { AgentUnavailableError, FleetsDifferError, GarbledLeaseError } from "../../../disruption/errors.ts";
import { readFleetBudgets } from "../../../plugin/plan/fleet-budgets.ts";
import { memberBudget, newSpec } from "../../support/build-count.ts";
import { databasePod } from "../../support/build-facts.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

const pod = databasePod("db-0");

/** Reads the budgets of pod shop/db-0 in cluster eu, with these specs. `onLook` runs before each look at eu. */
function budgetsOf(specs: readonly Readonly<Record<string, unknown>>[], onLook: () => void = () => undefined) {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.budgets = specs.map((spec) => memberBudget(spec));
	const [eu] = fleet.members;
	if (eu) eu.onLook = onLook;
	return readFleetBudgets(fleet, [{ clusterId: "id-eu", pod }]);
}

describe("readFleetBudgets()", () => {
	test("has the budget of a pod with its bound and the counts of all members", async () => {
		const read = await budgetsOf([newSpec({ maxUnavailable: "20%" })]);
		expect(read.coverageOf(pod)).toMatchObject({ kind: "covered" });
		expect(read.budgets.get("shop/db")).toMatchObject({
			bound: "maxUnavailable 20%",
			memberIds: ["id-eu", "id-us"],
			counted: { counts: [{ clusterId: "id-eu" }, { clusterId: "id-us" }] },
		});
	});

	test("has no bound of a budget that nobody can read", async () => {
		const { budgets } = await budgetsOf([newSpec({ maxUnavailable: 1, minAvailable: 1 })]);
		expect(budgets.get("shop/db")).toMatchObject({ bound: "" });
	});

	test("never lets a pod go under a budget whose selector nobody can read", async () => {
		const read = await budgetsOf([{ maxUnavailable: 1, selector: "app=db" }]);
		expect(read.coverageOf(pod)).toMatchObject({ kind: "never", never: { reason: "InvalidBudget" } });
	});

	const uncounted = [
		{ error: new GarbledLeaseError("Lease x is garbled"), reason: "GarbledLease" },
		{ error: new FleetsDifferError("eu knows us, which its fleet does not list"), reason: "FleetsDiffer" },
	];
	for (const { error, reason } of uncounted) {
		test(`says ${reason} of a budget that cannot be counted for it, as a round does`, async () => {
			const { budgets } = await budgetsOf([newSpec({ maxUnavailable: 1 })], () => {
				throw error;
			});
			expect(budgets.get("shop/db")).toEqual({ never: { reason, message: error.message } });
		});
	}

	test("rejects where a member gives no answer", async () => {
		const silent = budgetsOf([newSpec({ maxUnavailable: 1 })], () => {
			throw new AgentUnavailableError("no answer", "eu");
		});
		await expect(silent).rejects.toThrow(AgentUnavailableError);
	});
});
