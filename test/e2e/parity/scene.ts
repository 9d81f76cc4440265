// Creates and inspects a situation's part of one cluster as the administrator: its namespace, nodes and objects.
import { open } from "node:fs/promises";
import { type ApiClient, isStatus, isTransient, strategicMergePatch } from "../../../demo/machine/api-client.ts";
import { eventually } from "../kubectl.ts";
import { type KubernetesObject, namespace, node, type Place, parityLabel } from "./objects.ts";
import { collectionPath, isClusterScoped } from "../../support/apply-object.ts";
import type { Webhook } from "./webhook.ts";

export interface Stage {
	readonly cluster: string;
	readonly kubeconfig: string;
	/** The contexts of that kubeconfig, by user. */
	readonly contexts: Readonly<Record<"admin" | "operator", string>>;
	readonly auditLog: string;
	readonly client: ApiClient;
	readonly webhook: Webhook;
}

export interface Scenery {
	/** The labels of each node, by its letter. By default one node "a". */
	readonly nodes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
	/** The letters of nodes that are cordoned from the start. */
	readonly cordoned?: readonly string[];
	readonly objects?: (place: Place, stage: Stage) => readonly KubernetesObject[];
}

export interface Scene extends Place, Stage {
	readonly scenery: Scenery;
	readonly pod: (name: string) => string;
	create(object: KubernetesObject): Promise<void>;
	remove(pod: string): Promise<void>;
	/** Lets a pod end that was made to hang. */
	letEnd(pod: string): Promise<void>;
	runs(pod: string): Promise<void>;
	isTerminatingFor(pod: string, ms: number): Promise<void>;
	/**
	 * Resolves when the API server has answered another eviction of the pod, except dry runs and conflicts: after a 409, our plugin reads the
	 * pod and asks again.
	 */
	evictionAnswered(pod: string): Promise<void>;
	/** These functions send dry runs until one is refused, for example because a policy or webhook is in force. */
	refusesEviction(pod: string): Promise<void>;
	refusesDeletion(pod: string): Promise<void>;
	refusesCordon(): Promise<void>;
}

interface ListOf<T> {
	readonly items: readonly T[];
}

interface PodObject {
	readonly metadata: {
		readonly name: string;
		readonly namespace: string;
		readonly labels?: Readonly<Record<string, string>>;
		readonly deletionTimestamp?: string;
	};
	readonly spec: { readonly nodeName?: string };
	readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface BudgetObject {
	readonly spec: { readonly selector: { readonly matchLabels: Readonly<Record<string, string>> } };
	readonly status?: { readonly currentHealthy?: number };
}

export function createScene(scenery: Scenery, stage: Stage, prefix: string): Scene {
	const { client } = stage;
	const pod = (name: string): string => `/api/v1/namespaces/${prefix}/pods/${name}`;
	const node = (letter: string): string => `${prefix}-${letter}`;
	const refused = (what: string, ask: () => Promise<unknown>) =>
		eventually(`${what} in ${prefix} to be refused`, async () => {
			try {
				await ask();
				return false;
			} catch (error) {
				if (isStatus(error, 404)) throw error;
				return true;
			}
		});
	return {
		...stage,
		scenery,
		namespace: prefix,
		node,
		pod,
		create: async (object) => void (await client.send("POST", collectionPath(object), object)),
		remove: async (name) => void (await client.send("DELETE", pod(name))),
		async letEnd(name) {
			const ended = { metadata: { annotations: { "bench/stop": null } } };
			await client.send("PATCH", pod(name), ended, strategicMergePatch);
		},
		runs: (name) =>
			eventually(`pod ${name} in ${prefix} to run`, async () => isReady(await client.get<PodObject>(pod(name)))),
		isTerminatingFor: (name, ms) =>
			eventually(`pod ${name} in ${prefix} to terminate`, async () => {
				const { metadata } = await client.get<PodObject>(pod(name));
				return Date.now() - Date.parse(metadata.deletionTimestamp ?? "") > ms;
			}),
		async evictionAnswered(name) {
			const log = await open(stage.auditLog);
			try {
				// Reads only new lines, because the log is long, and ignores late lines of earlier evictions.
				const since = new Date().toISOString();
				let { size } = await log.stat();
				await eventually(`an eviction of pod ${name} in ${prefix}`, async () => {
					const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(1 << 20), position: size });
					const lines = buffer.toString("utf8", 0, bytesRead).split("\n");
					size += bytesRead - Buffer.byteLength(lines.at(-1) ?? "");
					const path = `/namespaces/${prefix}/pods/${name}/eviction"`;
					return lines
						.slice(0, -1)
						.filter((line) => line.includes(path) && !/"dryRun":\["All"\]|"code":409/.test(line))
						.some((line) => (/"requestReceivedTimestamp":"([^"]+)"/.exec(line)?.[1] ?? "") >= since);
				});
			} finally {
				await log.close();
			}
		},
		refusesEviction: (name) =>
			refused("evictions", () =>
				client.send("POST", `${pod(name)}/eviction`, {
					apiVersion: "policy/v1",
					kind: "Eviction",
					metadata: { name, namespace: prefix },
					deleteOptions: { dryRun: ["All"] },
				}),
			),
		refusesDeletion: (name) => refused("deletions", () => client.send("DELETE", `${pod(name)}?dryRun=All`)),
		refusesCordon: () =>
			refused("cordons", async () => {
				const path = `/api/v1/nodes/${node("a")}?dryRun=All`;
				await client.send("PATCH", path, { spec: { unschedulable: true } }, strategicMergePatch);
			}),
	};
}

function isReady({ status }: PodObject): boolean {
	return status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

/** More concurrent requests would delay each other beyond their timeouts. */
const requestsAtOnce = 8;

async function sendAll<T>(items: readonly T[], send: (item: T) => Promise<unknown>): Promise<void> {
	const queue = [...items];
	const senders = Array.from({ length: requestsAtOnce }, async () => {
		for (let item = queue.shift(); item !== undefined; item = queue.shift()) await send(item);
	});
	await Promise.all(senders);
}

export async function createScenes(scenes: readonly Scene[], client: ApiClient): Promise<void> {
	const objects = scenes.flatMap((scene) => scene.scenery.objects?.(scene, scene) ?? []);
	const create = (object: KubernetesObject) => client.send("POST", collectionPath(object), object);
	const inNamespaces = scenes.filter(({ scenery }) => scenery.objects !== undefined);
	await sendAll(
		[
			...inNamespaces.map((scene) => namespace(scene.namespace)),
			...scenes.flatMap((scene) => nodesOf(scene).map(([letter, labels]) => node(scene.node(letter), labels))),
			...objects.filter(isClusterScoped),
		],
		create,
	);
	await eventually("the service accounts of all namespaces", async () => {
		const { items } = await client.get<ListOf<PodObject>>("/api/v1/serviceaccounts");
		return inNamespaces.every((scene) => items.some(({ metadata }) => metadata.namespace === scene.namespace));
	});
	await sendAll(
		objects.filter((object) => !isClusterScoped(object)),
		create,
	);
}

/** Waits until all pods run and all budgets have counted them, then cordons nodes. */
export async function settle(scene: Scene): Promise<void> {
	const { client, scenery, namespace: name } = scene;
	const objects = scenery.objects?.(scene, scene) ?? [];
	const expected = objects.reduce((sum, { kind, spec }) => {
		if (kind === "Pod" || kind === "DaemonSet") return sum + 1;
		const { replicas = 0 } = (spec ?? {}) as { readonly replicas?: number };
		return sum + replicas;
	}, 0);
	const budgets = objects.filter(({ kind }) => kind === "PodDisruptionBudget");
	// If two budgets select a pod, Kubernetes updates only one of them when the pod becomes ready.
	const isCounted = new Set(budgets.map(({ spec }) => JSON.stringify(spec?.selector))).size === budgets.length;
	if (expected > 0) {
		await eventually(`${expected} ready pods in ${name}`, async () => {
			const { items } = await client.get<ListOf<PodObject>>(`/api/v1/namespaces/${name}/pods`);
			return items.filter(isReady).length >= expected;
		});
	}
	if (budgets.length > 0 && isCounted) {
		// A budget that has not yet counted the last pod refuses what it will soon allow.
		await eventually(`budgets that count every pod of ${name}`, async () => {
			const [{ items: pods }, { items: counted }] = await Promise.all([
				client.get<ListOf<PodObject>>(`/api/v1/namespaces/${name}/pods`),
				client.get<ListOf<BudgetObject>>(`/apis/policy/v1/namespaces/${name}/poddisruptionbudgets`),
			]);
			return counted.every(({ spec, status }) => {
				const labels = Object.entries(spec.selector.matchLabels);
				const ready = pods.filter(
					(pod) => isReady(pod) && labels.every(([key, value]) => pod.metadata.labels?.[key] === value),
				);
				return ready.length > 0 && status?.currentHealthy === ready.length;
			});
		});
	}
	await Promise.all(
		(scenery.cordoned ?? []).map(async (letter) => {
			const cordon = { spec: { unschedulable: true } };
			await client.send("PATCH", `/api/v1/nodes/${scene.node(letter)}`, cordon, strategicMergePatch);
		}),
	);
}

function nodesOf({ scenery }: Scene): readonly (readonly [letter: string, labels: Readonly<Record<string, string>>])[] {
	return Object.entries(scenery.nodes ?? { a: {} });
}

/** Returns the scene's nodes and the pods on them. */
export async function lookAt(scene: Scene): Promise<readonly string[]> {
	type NodeObject = {
		readonly metadata: { readonly name: string };
		readonly spec: { readonly unschedulable?: boolean };
	};
	const nodes = await Promise.all(
		nodesOf(scene).map(async ([letter]) => scene.client.get<NodeObject>(`/api/v1/nodes/${scene.node(letter)}`)),
	);
	const { items: pods } = await scene.client.get<ListOf<PodObject>>(`/api/v1/namespaces/${scene.namespace}/pods`);
	return [
		...nodes.map(({ metadata, spec }) => `node ${metadata.name}${spec.unschedulable ? " cordoned" : ""}`),
		...pods
			.filter(({ spec }) => spec.nodeName !== undefined)
			.map(({ metadata: { name, deletionTimestamp } }) => `pod ${name}${deletionTimestamp ? " terminating" : ""}`),
	];
}

/** Removes all objects of all scenes from a cluster. */
export async function clear(client: ApiClient): Promise<void> {
	const selector = new URLSearchParams({
		labelSelector: Object.entries(parityLabel)
			.map(([key, value]) => `${key}=${value}`)
			.join(","),
	}).toString();
	const admission = "/apis/admissionregistration.k8s.io/v1";
	for (const path of [
		`${admission}/validatingwebhookconfigurations`,
		`${admission}/validatingadmissionpolicybindings`,
		`${admission}/validatingadmissionpolicies`,
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles",
	]) {
		await removeAll(client, `${path}?${selector}`);
	}
	const { items } = await client.get<ListOf<PodObject>>(`/api/v1/namespaces?${selector}`);
	await sendAll(items, async ({ metadata }) => {
		if (metadata.deletionTimestamp === undefined) await client.send("DELETE", `/api/v1/namespaces/${metadata.name}`);
		// Some pods never end by themselves.
		await removeAll(client, `/api/v1/namespaces/${metadata.name}/pods?gracePeriodSeconds=0`);
	});
	await removeAll(client, `/api/v1/nodes?${selector}`);
}

/** Retries transient errors, conflicts, and refusals by policies that were just deleted. */
async function removeAll(client: ApiClient, path: string): Promise<void> {
	await eventually(`the deletion of ${path}`, async () => {
		try {
			await client.send("DELETE", path);
			return true;
		} catch (error) {
			if (isTransient(error) || isStatus(error, 409) || isStatus(error, 422)) return false;
			throw error;
		}
	});
}
