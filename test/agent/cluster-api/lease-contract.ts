import { describe, expect, test } from "vitest";
import { ConflictError } from "../../../agent/cluster-api/cluster-api.ts";
import { namespaceLabel } from "../../../disruption/lease.ts";
import { type LeaseObject } from "../../../disruption/lease-object.ts";
import { compareResourceVersions } from "../../../disruption/resource-version.ts";
import type { ContractWorld } from "./contract-world.ts";

/** A Lease that does not exist yet. */
function newLease(name: string, more: Partial<LeaseObject> = {}): Omit<LeaseObject, "uid" | "resourceVersion"> {
	return {
		name,
		labels: { [namespaceLabel]: "db" },
		annotations: { "xpdb.form3.tech/budget": `db/${name}` },
		spec: { leaseDurationSeconds: 1, leaseTransitions: 0 },
		...more,
	};
}

export function leaseRows(world: () => ContractWorld): void {
	describe("Leases", () => {
		test("getLease() gives undefined where there is none", async () => {
			expect(await world().api.getLease("none")).toBeUndefined();
		});

		test("createLease() gives what getLease() reads then, with uid and version", async () => {
			const { api } = world();
			const wanted = newLease("created", {
				annotations: { "xpdb.form3.tech/state": '{"a":"ü"}' },
				spec: {
					holderIdentity: "drain-7f",
					leaseDurationSeconds: 10,
					acquireTime: "2026-11-21T02:03:04.000005Z",
					renewTime: "2026-11-21T02:03:04.000006Z",
					leaseTransitions: 3,
				},
			});
			const created = await api.createLease(wanted);
			expect(created).toMatchObject(wanted);
			expect(created.uid).not.toBe("");
			expect(created.resourceVersion).toMatch(/^[1-9][0-9]*$/);
			expect(await api.getLease("created")).toEqual(created);
		});

		test("createLease() rejects where the name is taken, and changes nothing", async () => {
			const { api } = world();
			const created = await api.createLease(newLease("taken"));
			await expect(api.createLease(newLease("taken", { annotations: {} }))).rejects.toThrow(ConflictError);
			expect(await api.getLease("taken")).toEqual(created);
		});

		test("updateLease() writes the whole Lease under a higher version", async () => {
			const { api } = world();
			const created = await api.createLease(
				newLease("updated", { annotations: { a: "1", b: "2" }, spec: { holderIdentity: "x", leaseTransitions: 1 } }),
			);
			const wanted = { ...created, annotations: { b: "3" }, spec: { leaseTransitions: 2 } };
			const updated = await api.updateLease(wanted);
			expect(updated).toEqual({ ...wanted, resourceVersion: updated.resourceVersion });
			expect(compareResourceVersions(updated.resourceVersion, created.resourceVersion)).toBeGreaterThan(0);
			expect(await api.getLease("updated")).toEqual(updated);
		});

		test("updateLease() rejects a version that is not the latest, and changes nothing", async () => {
			const { api } = world();
			const created = await api.createLease(newLease("stale"));
			const updated = await api.updateLease({ ...created, annotations: { by: "first" } });
			await expect(api.updateLease({ ...created, annotations: { by: "second" } })).rejects.toThrow(ConflictError);
			expect(await api.getLease("stale")).toEqual(updated);
		});

		test("updateLease() lets one of two writers through", async () => {
			const { api } = world();
			const created = await api.createLease(newLease("raced"));
			const outcomes = await Promise.allSettled(
				["first", "second"].map((by) => api.updateLease({ ...created, annotations: { by } })),
			);
			expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
			const winner = outcomes.find((outcome) => outcome.status === "fulfilled");
			expect(await api.getLease("raced")).toEqual(winner?.value);
		});

		test("updateLease() rejects the uid of a Lease that was deleted and made again", async () => {
			const { api } = world();
			const first = await api.createLease(newLease("again"));
			await api.deleteLease(first);
			const second = await api.createLease(newLease("again"));
			expect(second.uid).not.toBe(first.uid);
			await expect(api.updateLease({ ...second, uid: first.uid })).rejects.toThrow(ConflictError);
			expect(await api.getLease("again")).toEqual(second);
		});

		test("updateLease() rejects where the Lease is gone, and makes none", async () => {
			const { api } = world();
			const created = await api.createLease(newLease("gone"));
			await api.deleteLease(created);
			await expect(api.updateLease(created)).rejects.toThrow(ConflictError);
			expect(await api.getLease("gone")).toBeUndefined();
		});

		test("deleteLease() rejects a version that is not the latest, another uid, and a Lease that is gone", async () => {
			const { api } = world();
			const created = await api.createLease(newLease("deleted"));
			const updated = await api.updateLease({ ...created, annotations: { a: "1" } });
			await expect(api.deleteLease(created)).rejects.toThrow(ConflictError);
			await expect(api.deleteLease({ ...updated, uid: "another" })).rejects.toThrow(ConflictError);
			expect(await api.getLease("deleted")).toEqual(updated);
			await api.deleteLease(updated);
			expect(await api.getLease("deleted")).toBeUndefined();
			await expect(api.deleteLease(updated)).rejects.toThrow(ConflictError);
		});

		test("keeps an annotation of 255,000 bytes", async () => {
			const { api } = world();
			const annotations = { "xpdb.form3.tech/state": "x".repeat(255_000) };
			await api.createLease(newLease("large", { annotations }));
			expect((await api.getLease("large"))?.annotations).toEqual(annotations);
		});
	});
}

export function leaseListRows(world: () => ContractWorld): void {
	const named = (leases: readonly LeaseObject[]) => leases.map(({ name }) => name).toSorted();
	const inNamespace = (budgetNamespace: string) => ({ labels: { [namespaceLabel]: budgetNamespace } });

	describe("listLeases()", () => {
		test("gives the Leases of the budget namespace, whole, and no others", async () => {
			const { api } = world();
			const first = await api.createLease(newLease("list-a", inNamespace("listed")));
			const second = await api.createLease(newLease("list-b", inNamespace("listed")));
			const last = await api.createLease(newLease("list-c", inNamespace("listed-not")));
			const listed = await api.listLeases({ budgetNamespace: "listed", notOlderThan: last.resourceVersion });
			expect(listed.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([first, second]);
			expect(await api.listLeases({ budgetNamespace: "nothing", notOlderThan: last.resourceVersion })).toEqual([]);
		});

		test("has every write up to the Lease that it must not be older than", async () => {
			const { api } = world();
			const others = inNamespace("fresh");
			let lease = await api.createLease(newLease("fresh-0", others));
			for (let round = 1; round <= 20; round++) {
				const other = await api.createLease(newLease(`fresh-${round}`, others));
				lease = await api.updateLease({ ...lease, annotations: { round: String(round) } });
				const listed = await api.listLeases({ budgetNamespace: "fresh", notOlderThan: lease.resourceVersion });
				expect(named(listed)).toEqual(["fresh-0", other.name].toSorted());
				expect(listed.find(({ name }) => name === "fresh-0")).toEqual(lease);
				await api.deleteLease(other);
			}
		});

		test("is consistent where no version is named", async () => {
			const { api } = world();
			for (let round = 1; round <= 5; round++) {
				const lease = await api.createLease(newLease(`consistent-${round}`, inNamespace("consistent")));
				const listed = await api.listLeases({ budgetNamespace: "consistent", notOlderThan: "" });
				expect(named(listed)).toEqual([lease.name]);
				await api.deleteLease(lease);
			}
		});
	});
}
