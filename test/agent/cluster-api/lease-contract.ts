import { describe, expect, test } from "vitest";
import { type ClusterApi, ConflictError } from "../../../agent/cluster-api/cluster-api.ts";
import { namespaceLabel } from "../../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../../disruption/lease/lease-object.ts";
import { compareResourceVersions } from "../../../disruption/resource-version.ts";
import { bringAbout, type LeaseHands, leaseConflicts } from "../../kubernetes/lease-conflicts.ts";
import type { ContractWorld } from "./contract-world.ts";

type LeaseWorld = Pick<ContractWorld, "api">;

function newLease(name: string, more: Partial<LeaseObject> = {}): Omit<LeaseObject, "uid" | "resourceVersion"> {
	return {
		name,
		labels: { [namespaceLabel]: "db" },
		annotations: { "xpdb.form3.tech/budget": `db/${name}` },
		spec: { leaseDurationSeconds: 1, leaseTransitions: 0 },
		...more,
	};
}

function handsOf(api: ClusterApi): LeaseHands<LeaseObject> {
	return {
		create: (name) => api.createLease(newLease(name)),
		update: (lease) => api.updateLease({ ...lease, annotations: { by: "another" } }),
		delete: (lease) => api.deleteLease(lease),
		withUidOf: ({ uid }, now) => ({ ...now, uid }),
	};
}

export function leaseRows(world: () => LeaseWorld): void {
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

		test("updateLease() lets one of two writers through", async () => {
			const { api } = world();
			const created = await api.createLease(newLease("raced"));
			const outcomes = await Promise.allSettled(
				["first", "second"].map((by) => api.updateLease({ ...created, annotations: { by } })),
			);
			expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
			expect(outcomes.find((outcome) => outcome.status === "rejected")?.reason).toBeInstanceOf(ConflictError);
			const winner = outcomes.find((outcome) => outcome.status === "fulfilled");
			expect(await api.getLease("raced")).toEqual(winner?.value);
		});

		for (const [nth, conflict] of leaseConflicts.entries()) {
			test(`${conflict.write}Lease() rejects for ${conflict.name}, and changes nothing`, async () => {
				const { api } = world();
				const name = `conflict-${nth}`;
				const { named, now } = await bringAbout(conflict, handsOf(api), name);
				const annotations = { by: "us" };
				const attempts = {
					create: () => api.createLease(newLease(name, { annotations })),
					update: () => api.updateLease({ ...(named as LeaseObject), annotations }),
					delete: () => api.deleteLease(named as LeaseObject),
				};
				await expect(attempts[conflict.write]()).rejects.toThrow(ConflictError);
				expect(await api.getLease(name)).toEqual(now);
			});
		}

		test("keeps an annotation of 255,000 bytes", async () => {
			const { api } = world();
			const annotations = { "xpdb.form3.tech/state": "x".repeat(255_000) };
			await api.createLease(newLease("large", { annotations }));
			expect((await api.getLease("large"))?.annotations).toEqual(annotations);
		});
	});
}

export function leaseListRows(world: () => LeaseWorld): void {
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
