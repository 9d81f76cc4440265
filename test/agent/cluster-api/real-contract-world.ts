import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parse } from "yaml";
import { createClusterApi } from "../../../agent/cluster-api/create-cluster-api.ts";
import { kubeconfigAccess } from "../../../agent/kubernetes/api-access.ts";
import { type ApiConnection, createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import type { PodReference } from "../../../disruption/budget/cluster.ts";
import type { ControllerReference } from "../../../disruption/budget/pod.ts";
import type { ContractKind, ContractWorld } from "./contract-world.ts";

const group = "test.xpdb.form3.tech";
const fleetConfigMap = "xpdb-fleet";
const finalizer = `${group}/hold`;

const kinds: Readonly<Record<ContractKind, { readonly apiVersion: string; readonly plural: string }>> = {
	ReplicaSet: { apiVersion: "apps/v1", plural: "replicasets" },
	Deployment: { apiVersion: "apps/v1", plural: "deployments" },
	StatefulSet: { apiVersion: "apps/v1", plural: "statefulsets" },
	DaemonSet: { apiVersion: "apps/v1", plural: "daemonsets" },
	ReplicationController: { apiVersion: "v1", plural: "replicationcontrollers" },
	Job: { apiVersion: "batch/v1", plural: "jobs" },
	Rocket: { apiVersion: `${group}/v1`, plural: "rockets" },
	Rock: { apiVersion: `${group}/v1`, plural: "rocks" },
};

interface ApiObject {
	readonly metadata: {
		readonly name: string;
		readonly uid: string;
		readonly annotations?: Readonly<Record<string, string>>;
	};
}

export async function createRealWorld(options: {
	readonly kubeconfig: string;
	readonly context: string;
}): Promise<ContractWorld> {
	const { kubeconfig, context } = options;
	const access = await kubeconfigAccess({ path: kubeconfig, context });
	const connection = createApiConnection({ access, clock: systemClock, cluster: context });
	const send = createSender(connection);
	const namespace = `contract-${process.pid}-${Date.now().toString(36)}`;
	await send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
	await defineKinds(connection, send);
	const api = await createClusterApi(connection, {
		leaseNamespace: namespace,
		fleetConfigMap,
		fleetNamespace: namespace,
	});
	const core = `/api/v1/namespaces/${namespace}`;
	const pathOf = (kind: string, name = ""): string => {
		const { apiVersion, plural } = kinds[contractKind(kind)];
		const prefix = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
		return `${prefix}/namespaces/${namespace}/${plural}${name === "" ? "" : `/${name}`}`;
	};
	const kubeSystem = await send("GET", "/api/v1/namespaces/kube-system");

	async function gone(path: string): Promise<void> {
		while ((await connection.request({ method: "GET", path })).status !== 404) await delay(10);
	}

	return {
		api,
		clusterId: kubeSystem.metadata.uid,
		namespace,
		async createPod({ name, labels = {}, annotations = {}, controller }) {
			const pod = await send("POST", `${core}/pods`, {
				metadata: {
					name,
					labels,
					annotations,
					...(controller && { ownerReferences: [{ ...controller, controller: true }] }),
				},
				// No such scheduler exists, so only the test writes to this pod.
				spec: { schedulerName: "nobody", containers: [{ name: "main", image: "none" }] },
			});
			return { namespace, name, uid: pod.metadata.uid };
		},
		async removePod({ name }) {
			await send("DELETE", `${core}/pods/${name}`, { gracePeriodSeconds: 0 });
			await gone(`${core}/pods/${name}`);
		},
		async terminatePod({ name }) {
			await send("PATCH", `${core}/pods/${name}`, { metadata: { finalizers: [finalizer] } });
			await send("DELETE", `${core}/pods/${name}`, { gracePeriodSeconds: 0 });
		},
		annotationsOf: async ({ name }: PodReference) =>
			(await send("GET", `${core}/pods/${name}`)).metadata.annotations ?? {},
		async createController({ kind, name, replicas, ownedBy }) {
			const { apiVersion } = kinds[kind];
			// A Deployment releases ReplicaSets whose labels it does not select.
			const app = ownedBy?.name ?? name;
			const { metadata } = await send("POST", pathOf(kind), {
				apiVersion,
				kind,
				metadata: {
					name,
					labels: { app },
					...(ownedBy && { ownerReferences: [{ ...ownedBy, controller: true }] }),
				},
				spec: specOf(kind, app, replicas),
			});
			return { apiVersion, kind, name, uid: metadata.uid };
		},
		async scaleController({ kind, name }: ControllerReference, replicas) {
			await send("PATCH", pathOf(kind, name), { spec: { replicas } });
		},
		async removeController({ kind, name }: ControllerReference) {
			await send("DELETE", pathOf(kind, name), { propagationPolicy: "Background" });
			await gone(pathOf(kind, name));
		},
		async createBudget(budget, spec) {
			await send("POST", budgetPath(budget.namespace), {
				apiVersion: "x-pdb.form3.tech/v1alpha1",
				kind: "XPodDisruptionBudget",
				metadata: { name: budget.name },
				spec,
			});
		},
		async removeBudget(budget) {
			await send("DELETE", `${budgetPath(budget.namespace)}/${budget.name}`);
		},
		async declareFleet(fleet) {
			const path = `${core}/configmaps/${fleetConfigMap}`;
			const { status } = await connection.request({ method: "DELETE", path });
			if (status !== 200 && status !== 404) throw new Error(`Cannot delete the fleet: ${status}`);
			if (!fleet) return;
			await send("POST", `${core}/configmaps`, {
				metadata: { name: fleetConfigMap },
				data: { members: JSON.stringify(fleet.members), forgotten: JSON.stringify(fleet.forgotten) },
			});
		},
		async close() {
			for (const pod of (await api.listSelectedPods(namespace, { requirements: [] })).pods) {
				const path = `${core}/pods/${pod.name}`;
				await connection.request({
					method: "PATCH",
					path,
					contentType: "application/merge-patch+json",
					body: { metadata: { finalizers: null } },
				});
			}
			await send("DELETE", `/api/v1/namespaces/${namespace}`);
			connection.close();
		},
	};
}

type Send = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown) => Promise<ApiObject>;

function createSender(connection: ApiConnection): Send {
	return async (method, path, body) => {
		const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
		const answer = await connection.request({ method, path, body, contentType });
		if (answer.status >= 300) throw new Error(`Cannot ${method} ${path}: ${JSON.stringify(answer.body)}`);
		return answer.body as ApiObject;
	};
}

/** Defines the CRD of budgets, in case the fleet has no agents, and two kinds of the test. They are never removed. */
async function defineKinds(connection: ApiConnection, send: Send): Promise<void> {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
	const manifest = new URL("../../../agent/deploy/crd.yaml", import.meta.url);
	const definitions: unknown[] = [
		parse(readFileSync(manifest, "utf8")),
		definitionOf("Rocket", { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } }),
		definitionOf("Rock", {}),
	];
	for (const definition of definitions) {
		const { status, body } = await connection.request({ method: "POST", path, body: definition });
		if (status !== 201 && status !== 409) throw new Error(`Cannot define a kind: ${JSON.stringify(body)}`);
	}
	for (const served of [budgetPath("default"), `/apis/${group}/v1/rockets`, `/apis/${group}/v1/rocks`]) {
		while ((await connection.request({ method: "GET", path: served })).status !== 200) await delay(50);
	}
	// Discovery shows the kinds a moment later.
	for (const kind of ["Rocket", "Rock"]) {
		while (!JSON.stringify(await send("GET", `/apis/${group}/v1`)).includes(`"${kind}"`)) await delay(50);
	}
}

function definitionOf(kind: "Rocket" | "Rock", subresources: object): unknown {
	const { plural } = kinds[kind];
	const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
	return {
		apiVersion: "apiextensions.k8s.io/v1",
		kind: "CustomResourceDefinition",
		metadata: { name: `${plural}.${group}` },
		spec: {
			group,
			scope: "Namespaced",
			names: { kind, plural },
			versions: [
				{
					name: "v1",
					served: true,
					storage: true,
					subresources,
					schema: {
						openAPIV3Schema: {
							type: "object",
							properties: { spec: { ...anything, properties: { replicas: { type: "integer" } } }, status: anything },
						},
					},
				},
			],
		},
	};
}

function specOf(kind: ContractKind, app: string, replicas: number): unknown {
	if (kind === "Rocket" || kind === "Rock") return { replicas };
	const labels = { app };
	const template = {
		metadata: { labels },
		spec: {
			schedulerName: "nobody",
			...(kind === "Job" && { restartPolicy: "Never" }),
			containers: [{ name: "main", image: "none" }],
		},
	};
	if (kind === "Job") return { parallelism: 0, template };
	if (kind === "ReplicationController") return { replicas, selector: labels, template };
	const selector = { matchLabels: labels };
	return kind === "DaemonSet" ? { selector, template } : { replicas, selector, template };
}

function contractKind(kind: string): ContractKind {
	const found = Object.keys(kinds).find((known): known is ContractKind => known === kind);
	if (!found) throw new Error(`No world has the kind "${kind}"`);
	return found;
}

function budgetPath(namespace: string): string {
	return `/apis/x-pdb.form3.tech/v1alpha1/namespaces/${namespace}/xpoddisruptionbudgets`;
}
