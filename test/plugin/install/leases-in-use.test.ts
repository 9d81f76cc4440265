import { describe, expect, test } from "vitest";
import { leasesInUse } from "../../../plugin/install/leases-in-use.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";
import { leaseFields, newLease, newReservation } from "../../support/build-lease.ts";

function v1Lease(more: Parameters<typeof newLease>[0]) {
	const { spec, ...metadata } = leaseFields(newLease(more));
	return { metadata, spec };
}

const inUse = (items: readonly unknown[]) =>
	leasesInUse(newContext("eu", newClient({ list: () => items })), "xpdb-system");

describe("leasesInUse()", () => {
	test("names the budget that somebody holds, and how many pods are granted and not gone", async () => {
		const held = v1Lease({ holder: "drain-7f3c", state: { phase: "held", nonce: "n" } });
		const granted = v1Lease({ state: { reservations: [newReservation("db-0"), newReservation("db-1")] } });
		expect(await inUse([held, granted])).toEqual([
			"eu: budget shop/db: held by drain-7f3c",
			"eu: budget shop/db: 2 granted pods that are not gone yet",
		]);
	});

	test("takes one that nobody can read for one in use", async () => {
		expect(await inUse([{ metadata: { name: "xpdb-1" } }])).toEqual(["eu: Lease xpdb-1 cannot be read"]);
	});

	test("has nothing to say of a Lease that was given back, and where there is no such namespace", async () => {
		expect(await inUse([v1Lease({})])).toEqual([]);
		const client = newClient({
			list: () => {
				throw notFound("no namespace");
			},
		});
		expect(await leasesInUse(newContext("eu", client), "xpdb-system")).toEqual([]);
	});
});
