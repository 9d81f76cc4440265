// Creates many ready pods in one cluster in half the usual time: the controllers, scheduler and kwok are frozen, and each pod is written as
// they would leave it.
import { randomBytes } from "node:crypto";
import type { V1Pod } from "@kubernetes/client-node";
import { type ApiClient, ApiError, strategicMergePatch } from "../../demo/machine/api-client.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import { inLanes } from "./worker-lanes.ts";

export interface Crowd {
	readonly namespace: string;
	/** A pod of the app web-0. */
	readonly pod: V1Pod;
}

export interface CrowdOptions {
	/** The number of apps, named web-0, web-1 and so on, each with a ReplicaSet. */
	readonly apps: number;
	readonly podsPerApp: number;
	/** `apps`: how many apps have a budget, starting with web-0. */
	readonly budgets: { readonly apps: number; readonly maxUnavailable: number };
	/** By default a new namespace with a random name. */
	readonly namespace?: string;
	/** Bytes of an environment variable in each pod. */
	readonly padding?: number;
}

const lanes = 24;

interface Created {
	readonly metadata: { readonly name: string; readonly uid: string };
}

export async function fillCluster(cluster: RunningCluster, options: CrowdOptions): Promise<Crowd> {
	const { client } = cluster;
	const { namespace = `crowd-${randomBytes(4).toString("hex")}` } = options;
	await client.send("POST", "/api/v1/namespaces", {
		apiVersion: "v1",
		kind: "Namespace",
		metadata: { name: namespace },
	});
	const { items: nodes } = await client.get<{ items: readonly Created[] }>("/api/v1/nodes");
	await createServiceAccount(client, namespace);
	for (const component of ["controller-manager", "scheduler", "kwok"] as const) cluster.freeze(component);
	const names = Array.from({ length: options.apps }, (_, app) => `web-${app}`);
	await inLanes(lanes, names.slice(0, options.budgets.apps), (name) =>
		createBudget(client, { namespace, name, app: name, maxUnavailable: options.budgets.maxUnavailable }),
	);
	const owners: Created[] = [];
	await inLanes(lanes, [...names.entries()], async ([app, name]) => {
		owners[app] = await createReplicaSet(client, { namespace, name, replicas: options.podsPerApp });
	});
	const numbers = Array.from({ length: options.apps * options.podsPerApp }, (_, number) => number);
	await inLanes(lanes, numbers, async (number) => {
		const owner = owners[number % owners.length];
		const node = nodes[number % nodes.length];
		if (!owner || !node) throw new Error("a cluster without nodes");
		await createReadyPod(client, { namespace, number, owner, node: node.metadata.name, padding: options.padding ?? 0 });
	});
	const pod = await client.get<V1Pod>(`/api/v1/namespaces/${namespace}/pods/web-0-00000`);
	return { namespace, pod };
}

export async function createBudget(
	client: ApiClient,
	at: { readonly namespace: string; readonly name: string; readonly app: string; readonly maxUnavailable: number },
): Promise<void> {
	const { namespace, name, app, maxUnavailable } = at;
	await client.send("POST", `/apis/x-pdb.form3.tech/v1alpha1/namespaces/${namespace}/xpoddisruptionbudgets`, {
		apiVersion: "x-pdb.form3.tech/v1alpha1",
		kind: "XPodDisruptionBudget",
		metadata: { name, namespace },
		spec: { selector: { matchLabels: { app } }, maxUnavailable },
	});
}

function createReplicaSet(
	client: ApiClient,
	at: { readonly namespace: string; readonly name: string; readonly replicas: number },
): Promise<Created> {
	const { namespace, name, replicas } = at;
	const labels = { app: name };
	return client.send<Created>("POST", `/apis/apps/v1/namespaces/${namespace}/replicasets`, {
		apiVersion: "apps/v1",
		kind: "ReplicaSet",
		metadata: { name, namespace, labels },
		spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
	});
}

const podSpec = {
	containers: [{ name: "web", image: "example.com/web:1" }],
} as const;

async function createReadyPod(
	client: ApiClient,
	at: {
		readonly namespace: string;
		readonly number: number;
		readonly owner: Created;
		readonly node: string;
		readonly padding: number;
	},
): Promise<void> {
	const { namespace, number, owner, node, padding } = at;
	const env = padding === 0 ? [] : [{ name: "PADDING", value: "x".repeat(padding) }];
	const containers = podSpec.containers.map((container) => ({ ...container, env }));
	const { name: app, uid } = owner.metadata;
	const name = `${app}-${String(number).padStart(5, "0")}`;
	const reference = { apiVersion: "apps/v1", kind: "ReplicaSet", name: app, uid, controller: true };
	await client.send("POST", `/api/v1/namespaces/${namespace}/pods`, {
		apiVersion: "v1",
		kind: "Pod",
		metadata: { name, namespace, labels: { app }, ownerReferences: [{ ...reference, blockOwnerDeletion: true }] },
		spec: { containers, nodeName: node },
	});
	await client.send(
		"PATCH",
		`/api/v1/namespaces/${namespace}/pods/${name}/status`,
		{ status: readyStatus(number) },
		strategicMergePatch,
	);
}

function readyStatus(number: number): object {
	const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
	const state = { running: { startedAt: now } };
	return {
		phase: "Running",
		startTime: now,
		hostIP: "10.0.0.1",
		podIP: `10.${200 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`,
		conditions: ["Initialized", "PodScheduled", "ContainersReady", "Ready"].map((type) => ({
			type,
			status: "True",
			lastTransitionTime: now,
		})),
		containerStatuses: [
			{ name: "web", image: "example.com/web:1", imageID: "", ready: true, started: true, restartCount: 0, state },
		],
	};
}

/** Pod admission requires it. The controllers, which would create it, may be frozen. */
async function createServiceAccount(client: ApiClient, namespace: string): Promise<void> {
	await client
		.send("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
			apiVersion: "v1",
			kind: "ServiceAccount",
			metadata: { name: "default", namespace },
		})
		.catch((error: unknown) => {
			if (!(error instanceof ApiError && error.status === 409)) throw error;
		});
}
