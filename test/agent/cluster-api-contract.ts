import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClusterApi, ConflictError, type LeaseObject } from "../../agent/cluster-api.ts";
import type { PodReference } from "../../disruption/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { namespaceLabel } from "../../disruption/lease.ts";
import type { ControllerReference } from "../../disruption/pod.ts";
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import type { ContractKind, ContractWorld } from "./contract-world.ts";

/**
 * What every ClusterApi promises: the one over a real API server, and the one over the exploration's store. Each test
 * uses names of its own, so that one world serves all.
 */
export function clusterApiContract(name: string, makeWorld: () => Promise<ContractWorld>): void {
	describe(`ClusterApi of ${name}`, () => {
		let world: ContractWorld;
		let api: ClusterApi;
		beforeAll(async () => {
			world = await makeWorld();
			({ api } = world);
		});
		afterAll(async () => {
			await world?.close();
		});

		test("knows the cluster's id", () => {
			expect(api.clusterId).toBe(world.clusterId);
		});

		leaseRows(() => world);
		leaseListRows(() => world);
		podRows(() => world);
		touchRows(() => world);
		scaleRows(() => world);
		budgetRows(() => world);
		fleetRows(() => world);
	});
}

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

function leaseRows(world: () => ContractWorld): void {
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

function leaseListRows(world: () => ContractWorld): void {
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

function podRows(world: () => ContractWorld): void {
	describe("Pods", () => {
		test("getPod() gives the pod that has the name now, or that there is none", async () => {
			const { api, namespace } = world();
			expect(await api.getPod({ namespace, name: "pod-none" })).toEqual({ kind: "gone" });
			const first = await world().createPod({ name: "pod-read" });
			expect(await api.getPod(first)).toMatchObject({ kind: "present", pod: first });
			await world().removePod(first);
			expect(await api.getPod(first)).toEqual({ kind: "gone" });
			const second = await world().createPod({ name: "pod-read" });
			expect(second.uid).not.toBe(first.uid);
			expect(await api.getPod(first)).toMatchObject({ kind: "present", pod: { uid: second.uid } });
		});

		test("getPod() gives what everything is counted from", async () => {
			const { api } = world();
			const controller = { apiVersion: "test.xpdb.form3.tech/v1", kind: "Rocket", name: "owner", uid: "owner-uid" };
			const pod = await world().createPod({
				name: "pod-projected",
				labels: { app: "db", tier: "" },
				annotations: { "pre-activity.xpdb.form3.tech/flush": "", other: "x" },
				controller,
			});
			const read = await api.getPod(pod);
			expect(read).toMatchObject({
				kind: "present",
				pod: {
					...pod,
					labels: { app: "db", tier: "" },
					controller,
					ready: false,
					terminating: false,
					finished: false,
					preActivities: ["flush"],
				},
			});
			await world().terminatePod(pod);
			expect(await api.getPod(pod)).toMatchObject({ kind: "present", pod: { uid: pod.uid, terminating: true } });
		});

		test("listPods() is consistent, and at least as new as every pod in it", async () => {
			const { api } = world();
			for (let round = 1; round <= 3; round++) {
				const pod = await world().createPod({ name: `pod-listed-${round}`, labels: { app: "listed" } });
				const { pods, resourceVersion } = await api.listPods();
				const found = pods.find(({ uid }) => uid === pod.uid);
				expect(found).toMatchObject({ ...pod, labels: { app: "listed" } });
				for (const each of pods) {
					expect(compareResourceVersions(resourceVersion, each.resourceVersion)).toBeGreaterThanOrEqual(0);
				}
				await world().removePod(pod);
				expect((await api.listPods()).pods.map(({ uid }) => uid)).not.toContain(pod.uid);
			}
		});
	});
}

function touchRows(world: () => ContractWorld): void {
	async function versionOf(pod: PodReference): Promise<string> {
		const read = await world().api.getPod(pod);
		if (read.kind === "gone") throw new Error(`Pod "${pod.name}" is gone`);
		return read.pod.resourceVersion;
	}

	describe("touchPod()", () => {
		test("gives the pod a new version each time, with a value never used before", async () => {
			const { api } = world();
			const pod = await world().createPod({ name: "touched" });
			let before = await versionOf(pod);
			for (const value of ["one", "two", "three"]) {
				const touched = await api.touchPod(pod, value);
				const after = await versionOf(pod);
				expect(touched).toEqual({ kind: "touched", resourceVersion: after });
				expect(compareResourceVersions(after, before)).toBeGreaterThan(0);
				before = after;
			}
		});

		test("touches a pod that is terminating", async () => {
			const pod = await world().createPod({ name: "touched-terminating" });
			await world().terminatePod(pod);
			expect(await world().api.touchPod(pod, "one")).toMatchObject({ kind: "touched" });
		});

		test("leaves a pod of the same name and another uid alone", async () => {
			const { api } = world();
			const pod = await world().createPod({ name: "touched-not" });
			const before = await versionOf(pod);
			const uid = "00000000-0000-4000-8000-000000000000";
			expect(await api.touchPod({ ...pod, uid }, "one")).toEqual({ kind: "gone" });
			expect(await versionOf(pod)).toBe(before);
		});

		test("says that a pod is gone", async () => {
			const pod = await world().createPod({ name: "touched-late" });
			await world().removePod(pod);
			expect(await world().api.touchPod(pod, "one")).toEqual({ kind: "gone" });
		});
	});

	describe("markPendingDisruption()", () => {
		test("marks the pod, and keeps its other annotations", async () => {
			const pod = await world().createPod({ name: "marked", annotations: { other: "x" } });
			await world().api.markPendingDisruption(pod);
			await world().api.markPendingDisruption(pod);
			expect(await world().annotationsOf(pod)).toEqual({
				other: "x",
				"xpdb.form3.tech/has-pending-disruption": "true",
			});
		});

		test("has nothing to do for a pod that is gone or was replaced", async () => {
			const pod = await world().createPod({ name: "marked-late" });
			await world().api.markPendingDisruption({ ...pod, uid: "00000000-0000-4000-8000-000000000000" });
			expect(await world().annotationsOf(pod)).toEqual({});
			await world().removePod(pod);
			await world().api.markPendingDisruption(pod);
		});
	});
}

function scaleRows(world: () => ContractWorld): void {
	const scaleOf = (controller: ControllerReference) => world().api.getScale(controller, world().namespace);

	describe("getScale()", () => {
		for (const kind of ["ReplicaSet", "Deployment", "StatefulSet", "ReplicationController", "Rocket"] as const) {
			test(`gives the replicas of a ${kind}, as they are now, until it is gone`, async () => {
				const name = `scaled-${kind.toLowerCase()}`;
				const controller = await world().createController({ kind, name, replicas: 2 });
				expect(await scaleOf(controller)).toEqual({ kind: "replicas", replicas: 2 });
				await world().scaleController(controller, 0);
				expect(await scaleOf(controller)).toEqual({ kind: "replicas", replicas: 0 });
				expect(await scaleOf({ ...controller, uid: "another" })).toEqual({ kind: "gone" });
				await world().removeController(controller);
				expect(await scaleOf(controller)).toEqual({ kind: "gone" });
			});
		}

		test("names the Deployment of a ReplicaSet", async () => {
			const owner = await world().createController({ kind: "Deployment", name: "owner", replicas: 0 });
			const replicaSet = { kind: "ReplicaSet", name: "owned", replicas: 1, ownedBy: owner } as const;
			const controller = await world().createController(replicaSet);
			expect(await scaleOf(controller)).toMatchObject({ kind: "replicas", ownedBy: owner });
		});

		for (const kind of ["DaemonSet", "Job", "Rock"] as const satisfies readonly ContractKind[]) {
			test(`says that a ${kind} has no scale`, async () => {
				const name = `unscaled-${kind.toLowerCase()}`;
				const controller = await world().createController({ kind, name, replicas: 0 });
				expect(await scaleOf(controller)).toEqual({ kind: "withoutScale" });
			});
		}

		test("refuses to guess about a kind that the cluster does not know", async () => {
			const unknown = { apiVersion: "unknown.example.com/v1", kind: "Unknown", name: "a", uid: "b" };
			await expect(scaleOf(unknown)).rejects.toThrow(AgentUnavailableError);
		});
	});
}

function budgetRows(world: () => ContractWorld): void {
	describe("Budgets", () => {
		const spec = { selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 };

		test("getBudget() gives the spec as it stands, or that there is none", async () => {
			const { api, namespace } = world();
			const name = { namespace, name: "read" };
			expect(await api.getBudget(name)).toBeUndefined();
			await world().createBudget(name, spec);
			expect(await api.getBudget(name)).toEqual({ name, spec });
			await world().removeBudget(name);
			expect(await api.getBudget(name)).toBeUndefined();
		});

		test("listBudgets() is consistent, for one namespace and for all", async () => {
			const { api, namespace } = world();
			const named = (budgets: readonly { readonly name: { readonly name: string } }[]) =>
				budgets.map(({ name }) => name.name).toSorted();
			await world().createBudget({ namespace, name: "list-a" }, spec);
			await world().createBudget({ namespace, name: "list-b" }, spec);
			expect(named(await api.listBudgets(namespace))).toEqual(["list-a", "list-b"]);
			expect(await api.listBudgets()).toEqual(
				expect.arrayContaining([
					{ name: { namespace, name: "list-a" }, spec },
					{ name: { namespace, name: "list-b" }, spec },
				]),
			);
			expect(await api.listBudgets("kube-public")).toEqual([]);
			await world().removeBudget({ namespace, name: "list-a" });
			expect(named(await api.listBudgets(namespace))).toEqual(["list-b"]);
		});
	});
}

function fleetRows(world: () => ContractWorld): void {
	describe("getFleet()", () => {
		const members = [
			{ id: "id-1", name: "eu-1", address: "10.0.0.1:8444" },
			{ id: "id-2", name: "eu-2", address: "xpdb.eu-2.example.com:8444" },
		];

		test("gives the members as they are declared now", async () => {
			await world().declareFleet(members);
			expect(await world().api.getFleet()).toEqual(members);
			await world().declareFleet(members.slice(1));
			expect(await world().api.getFleet()).toEqual(members.slice(1));
		});

		test("rejects where no fleet is declared", async () => {
			await world().declareFleet(undefined);
			await expect(world().api.getFleet()).rejects.toThrow(AgentUnavailableError);
		});
	});
}
