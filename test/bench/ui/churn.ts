// Makes pods ready and not ready at an even pace, over all clusters and budgets.
import { setTimeout as delay } from "node:timers/promises";
import { type ApiClient, strategicMergePatch } from "../../../demo/machine/api-client.ts";

export interface Churn {
	readonly changes: number;
	/** Resolves when the last change has finished. Rejects with the first error of a change. */
	stop(): Promise<void>;
}

export interface ChurnOptions {
	/** The administrator's client of each cluster. */
	readonly clients: readonly ApiClient[];
	readonly namespace: string;
	/** The pods' names, the same in every cluster. */
	readonly pods: readonly string[];
	readonly perSecond: number;
}

/** Limits concurrent changes, so that a slow cluster gets fewer of them. */
const atOnce = 20;

export function startChurn({ clients, namespace, pods, perSecond }: ChurnOptions): Churn {
	const stop = new AbortController();
	const underWay = new Set<Promise<void>>();
	let changes = 0;
	let failure: unknown;

	async function change(number: number): Promise<void> {
		const { cluster, pod, ready } = changeOf(number, { clusters: clients.length, pods: pods.length });
		await turn(clients[cluster], { namespace, pod: pods[pod], ready });
		changes += 1;
	}

	async function run(): Promise<void> {
		const startedAt = performance.now();
		for (let number = 0, skipped = 0; !stop.signal.aborted; ) {
			const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1_000) - skipped;
			for (; number < due && underWay.size < atOnce; number += 1) {
				const one = change(number)
					.catch((error: unknown) => {
						failure ??= error;
						stop.abort();
					})
					.finally(() => underWay.delete(one));
				underWay.add(one);
			}
			if (number < due) skipped += due - number;
			await delay(1_000 / perSecond, undefined, { signal: stop.signal }).catch(() => undefined);
		}
	}

	const running = run();
	return {
		get changes() {
			return changes;
		},
		async stop() {
			stop.abort();
			await running;
			await Promise.all(underWay);
			if (failure !== undefined) throw failure;
		},
	};
}

/**
 * Returns the change with this number. The first pod in each cluster is changed first, then the second pod, and so on. Every second round
 * makes the pods ready again.
 */
export function changeOf(
	number: number,
	{ clusters, pods }: { readonly clusters: number; readonly pods: number },
): { readonly cluster: number; readonly pod: number; readonly ready: boolean } {
	const pod = Math.floor(number / clusters) % pods;
	return { cluster: number % clusters, pod, ready: Math.floor(number / (clusters * pods)) % 2 === 1 };
}

/** Sets the annotation from which kwok derives the pod's readiness. */
export async function turn(
	client: ApiClient | undefined,
	{
		namespace,
		pod = "",
		ready,
	}: { readonly namespace: string; readonly pod: string | undefined; readonly ready: boolean },
): Promise<void> {
	const annotations = { "bench/ready": ready ? null : "false" };
	await client?.send(
		"PATCH",
		`/api/v1/namespaces/${namespace}/pods/${pod}`,
		{ metadata: { annotations } },
		strategicMergePatch,
	);
}
