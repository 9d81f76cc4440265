// Creates Deployments and their budgets in a new namespace, the same in every cluster.
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import type { ApiClient } from "../../demo/machine/api-client.ts";
import type { LabelSelector } from "../../disruption/budget/budget.ts";
import { parseLabelSelector } from "../../disruption/budget/selector.ts";
import type { Bench } from "./bench.ts";

export interface Workload extends AsyncDisposable {
	readonly namespace: string;
	/** Waits until every pod is ready and no earlier pod is left. */
	ready(): Promise<void>;
	/** Returns the pods of each cluster, without terminating ones. */
	pods(): Promise<readonly (readonly V1Pod[])[]>;
}

export interface WorkloadOptions {
	/** The administrator's client of each cluster. */
	readonly clients: readonly ApiClient[];
	/** The number of Deployments in each cluster, named web-0, web-1 and so on. */
	readonly apps: number;
	/** Per Deployment. */
	readonly replicas: number;
	/** The spec of every app's budget without its selector. By default there are no budgets. */
	readonly budget?: Readonly<Record<string, unknown>>;
}

const readyTimeoutMs = 600_000;

export async function createWorkload(options: WorkloadOptions): Promise<Workload> {
	const { clients, apps, replicas, budget } = options;
	const namespace = `bench-${randomBytes(4).toString("hex")}`;
	const names = Array.from({ length: apps }, (_, index) => `web-${index}`);
	await Promise.all(
		clients.map(async (client) => {
			await client.send("POST", "/api/v1/namespaces", {
				apiVersion: "v1",
				kind: "Namespace",
				metadata: { name: namespace },
			});
			for (const name of names) {
				if (budget) await client.send("POST", budgetsPath(namespace), budgetObject(name, namespace, budget));
				await client.send("POST", deploymentsPath(namespace), deploymentObject(name, namespace, replicas));
			}
		}),
	);
	const workload: Workload = {
		namespace,
		async ready() {
			const until = performance.now() + readyTimeoutMs;
			for (const client of clients) {
				while (!(await isReady(client, namespace, apps * replicas))) {
					if (performance.now() > until) throw new Error(`pods of ${namespace} are not ready after 10 minutes`);
					await delay(250);
				}
			}
		},
		pods: () =>
			Promise.all(
				clients.map(async (client) => {
					const { items } = await client.get<{ items: readonly V1Pod[] }>(`/api/v1/namespaces/${namespace}/pods`);
					return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
				}),
			),
		async [Symbol.asyncDispose]() {
			await Promise.all(clients.map((client) => client.send("DELETE", `/api/v1/namespaces/${namespace}`)));
			for (const client of clients) {
				// Pods that still terminate would affect the next measurement.
				while ((await listPods(client, namespace)).length > 0) await delay(250);
			}
		},
	};
	await workload.ready();
	return workload;
}

/** Creates one app with a budget that always allows evictions. */
export function createRoomyWorkload({ fleet }: Bench, replicas: number): Promise<Workload> {
	const clients = fleet.clusters.map(({ client }) => client);
	return createWorkload({ clients, apps: 1, replicas, budget: { maxUnavailable: "100%" } });
}

export function selectorOf(app: string): LabelSelector {
	return parseLabelSelector({ matchLabels: { app } }, "selector");
}

interface Deployment {
	readonly status?: { readonly readyReplicas?: number };
}

/** Checks the few Deployments before the many pods. */
async function isReady(client: ApiClient, namespace: string, pods: number): Promise<boolean> {
	const { items } = await client.get<{ items: readonly Deployment[] }>(deploymentsPath(namespace));
	const ready = items.reduce((sum, { status }) => sum + (status?.readyReplicas ?? 0), 0);
	return ready === pods && (await listPods(client, namespace)).length === pods;
}

async function listPods(client: ApiClient, namespace: string): Promise<readonly unknown[]> {
	const path = `/api/v1/namespaces/${namespace}/pods`;
	return (await client.get<{ items: readonly unknown[] }>(path)).items;
}

function deploymentsPath(namespace: string): string {
	return `/apis/apps/v1/namespaces/${namespace}/deployments`;
}

function budgetsPath(namespace: string): string {
	return `/apis/x-pdb.form3.tech/v1alpha1/namespaces/${namespace}/xpoddisruptionbudgets`;
}

function budgetObject(name: string, namespace: string, spec: Readonly<Record<string, unknown>>): object {
	return {
		apiVersion: "x-pdb.form3.tech/v1alpha1",
		kind: "XPodDisruptionBudget",
		metadata: { name, namespace },
		spec: { selector: { matchLabels: { app: name } }, ...spec },
	};
}

function deploymentObject(name: string, namespace: string, replicas: number): object {
	const labels = { app: name };
	return {
		apiVersion: "apps/v1",
		kind: "Deployment",
		metadata: { name, namespace },
		spec: {
			replicas,
			selector: { matchLabels: labels },
			template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "example.com/web:1" }] } },
		},
	};
}
