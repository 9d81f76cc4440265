import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClusterApi } from "../../../agent/cluster-api/cluster-api.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import type { ControllerReference } from "../../../disruption/budget/pod.ts";
import type { ContractKind, ContractWorld } from "./contract-world.ts";
import { leaseListRows, leaseRows } from "./lease-contract.ts";
import { podRows, touchRows } from "./pod-contract.ts";

/**
 * Tests what a ClusterApi promises, over a real API server and over the small one. The exploration's simulated server runs only the tests
 * of Leases. Each test uses its own names, so that all can share one world.
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
		workloadRows(() => world);
		budgetRows(() => world);
		fleetRows(() => world);
	});
}

function scaleRows(world: () => ContractWorld): void {
	const scaleOf = (controller: ControllerReference) => world().api.getScale(controller, world().namespace);

	describe("getScale()", () => {
		for (const kind of ["ReplicaSet", "Deployment", "StatefulSet", "ReplicationController", "Rocket"] as const) {
			test(`gives the replicas of a ${kind}, as they are now, until it is gone`, async () => {
				const name = `scaled-${kind.toLowerCase()}`;
				const controller = await world().createController({ kind, name, replicas: 2 });
				const { uid } = controller;
				expect(await scaleOf(controller)).toEqual({ kind: "replicas", replicas: 2, uid });
				await world().scaleController(controller, 0);
				expect(await scaleOf(controller)).toEqual({ kind: "replicas", replicas: 0, uid });
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

		test("gives the nodes of a DaemonSet once its controller has looked at it, until it is gone", async () => {
			const controller = await world().createController({ kind: "DaemonSet", name: "scaled-daemonset", replicas: 0 });
			await expect
				.poll(() => scaleOf(controller), { timeout: 20_000 })
				.toEqual({ kind: "replicas", replicas: expect.any(Number), uid: controller.uid });
			await world().removeController(controller);
			expect(await scaleOf(controller)).toEqual({ kind: "gone" });
		});

		for (const kind of ["Job", "Rock"] as const satisfies readonly ContractKind[]) {
			test(`says that a ${kind} has no scale`, async () => {
				const name = `unscaled-${kind.toLowerCase()}`;
				const controller = await world().createController({ kind, name, replicas: 0 });
				expect(await scaleOf(controller)).toEqual({ kind: "withoutScale" });
			});
		}

		test("says that one is gone whose kind the cluster does not serve, or not any more in that version", async () => {
			const unknown = { apiVersion: "unknown.example.com/v1", kind: "Unknown", name: "a", uid: "b" };
			expect(await scaleOf(unknown)).toEqual({ kind: "gone" });
			const controller = await world().createController({ kind: "Rocket", name: "versioned", replicas: 2 });
			const { uid, apiVersion } = controller;
			expect(await scaleOf({ ...controller, kind: "Comet" })).toEqual({ kind: "gone" });
			const older = { ...controller, apiVersion: apiVersion.replace("/v1", "/v0") };
			expect(await scaleOf(older)).toEqual({ kind: "replicas", replicas: 2, uid });
		});
	});
}

function workloadRows(world: () => ContractWorld): void {
	describe("listWorkloads()", () => {
		const named = async (name: string) => {
			const { api, namespace } = world();
			return (await api.listWorkloads(namespace)).filter((each) => each.name === name);
		};

		for (const kind of ["ReplicaSet", "Deployment", "StatefulSet", "ReplicationController", "DaemonSet"] as const) {
			test(`has a ${kind} with the labels of its template, until it is gone`, async () => {
				const name = `listed-${kind.toLowerCase()}`;
				const controller = await world().createController({ kind, name, replicas: 0 });
				const { namespace } = world();
				expect(await named(name)).toMatchObject([
					{ ...controller, namespace, labels: { app: name }, isOfDeployment: false },
				]);
				await world().removeController(controller);
				expect(await named(name)).toEqual([]);
			});
		}

		test("knows the ReplicaSet of a Deployment", async () => {
			const owner = await world().createController({ kind: "Deployment", name: "lists-one", replicas: 0 });
			await world().createController({ kind: "ReplicaSet", name: "listed-owned", replicas: 0, ownedBy: owner });
			expect(await named("listed-owned")).toMatchObject([{ kind: "ReplicaSet", isOfDeployment: true }]);
		});

		test("has none of another kind", async () => {
			await world().createController({ kind: "Rocket", name: "listed-rocket", replicas: 0 });
			expect(await named("listed-rocket")).toEqual([]);
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

		test("gives the members and the forgotten ones as they are declared now", async () => {
			await world().declareFleet({ members, forgotten: [] });
			const before = await world().api.getFleet();
			expect(before).toMatchObject({ members, forgotten: [] });
			const after = { members: members.slice(1), forgotten: [{ id: "id-1", name: "eu-1" }] };
			await world().declareFleet(after);
			const fleet = await world().api.getFleet();
			expect(fleet).toMatchObject(after);
			expect(fleet.version).not.toBe(before.version);
		});

		test("rejects where no fleet is declared", async () => {
			await world().declareFleet(undefined);
			await expect(world().api.getFleet()).rejects.toThrow(AgentUnavailableError);
		});
	});
}
