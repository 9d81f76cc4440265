// Makes pods ready and not ready again at an even pace, over all clusters and budgets.
import { setTimeout as delay } from "node:timers/promises";
import { type ApiClient, strategicMergePatch } from "../../../demo/machine/api-client.ts";

export interface Churn {
	/** The number of changes that were made so far. */
	readonly changes: number;
	/** Resolves when the last change has finished. Rejects with an error that occurred meanwhile. */
	stop(): Promise<void>;
}

export interface ChurnOptions {
	/** The administrator's clients. */
	readonly clients: readonly ApiClient[];
	readonly namespace: string;
	/** These pods exist in every cluster. */
	readonly pods: readonly string[];
	readonly perSecond: number;
}

/** A slow cluster gets fewer changes instead of more and more at once. */
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
			// Changes that could not begin in time are skipped.
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

/** Goes through the clusters and then the pods. In the next round, each pod changes back. */
export function changeOf(
	number: number,
	{ clusters, pods }: { readonly clusters: number; readonly pods: number },
): { readonly cluster: number; readonly pod: number; readonly ready: boolean } {
	const pod = Math.floor(number / clusters) % pods;
	return { cluster: number % clusters, pod, ready: Math.floor(number / (clusters * pods)) % 2 === 1 };
}

/** Sets the annotation by which kwok changes the pod's readiness. */
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
