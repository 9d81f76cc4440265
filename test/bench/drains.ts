// Measures a drain of one node with 100 pods in each of three clusters, compared with kubectl drain and with bare eviction calls.
import type { V1Pod } from "@kubernetes/client-node";
import type { ApiClient } from "../../demo/machine/api-client.ts";
import type { Bench } from "./bench.ts";
import { bareEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { cordon, cordonOthers, freeNodes, uncordonAll } from "./nodes.ts";
import { runProgram } from "./programs.ts";
import { inLanes } from "./worker-lanes.ts";
import { createWorkload, type Workload } from "./workload.ts";

const apps = 5;
const podsPerApp = 20;
const podsPerSmallApp = 1;
/** Concurrent calls per cluster. */
const lanes = 25;
const kubectlFlags = ["--ignore-daemonsets", "--delete-emptydir-data"];

/** Drains one node of each cluster, given in the order of the clusters. Resolves when the last pod is gone. */
export type Drain = (nodes: readonly string[]) => Promise<void>;

export const drains: Measurement = {
	name: "drain",
	ratios: ["drain_vs_kubectl", "drain_vs_bare"],
	on: "fleet",
	runs: { full: 3, short: 1 },
	seconds: { once: 45, each: 38 },
	async measure(bench, runs) {
		const podsOfApp = bench.isSmall ? podsPerSmallApp : podsPerApp;
		await using scene = await createDrainScene(bench, podsOfApp);
		const seconds = { ours: new Array<number>(), bare: new Array<number>(), kubectl: new Array<number>() };
		// Not counted: programs that have just started are slow.
		if (!bench.isSmall) await scene.time(byBareCalls(bench));
		for (let run = 1; run <= runs; run += 1) {
			seconds.ours.push(await scene.time(byPlugin(bench)));
			seconds.bare.push(await scene.time(byBareCalls(bench)));
			seconds.kubectl.push(await scene.time(byKubectl(bench)));
			const last = Object.entries(seconds).map(([name, values]) => `${name} ${values.at(-1)?.toFixed(1)} s`);
			bench.log(`  run ${run}: ${last.join(", ")}`);
		}
		const over = (others: readonly number[]) => seconds.ours.map((value, run) => value / (others[run] ?? Number.NaN));
		return {
			ratios: { drain_vs_kubectl: over(seconds.kubectl), drain_vs_bare: over(seconds.bare) },
			details: { seconds, apps, podsPerApp: podsOfApp },
		};
	},
};

export interface DrainScene extends AsyncDisposable {
	/** Returns the seconds that `drain` takes. Each call drains the nodes that received the pods of the previous one. */
	time(drain: Drain): Promise<number>;
}

export async function createDrainScene(bench: Bench, podsOfApp = podsPerApp): Promise<DrainScene> {
	const { clusters } = bench.fleet;
	const pairs = await Promise.all(
		clusters.map(async ({ client }, index) => {
			const [first, second] = await freeNodes(bench, index);
			if (!first || !second) throw new Error("a drain needs two nodes without agents");
			await cordonOthers(client, first);
			return [first, second] as const;
		}),
	);
	let workload: Workload;
	try {
		const clients = clusters.map(({ client }) => client);
		workload = await createWorkload({ clients, apps, replicas: podsOfApp, budget: { maxUnavailable: "100%" } });
	} catch (error) {
		await uncordonAll(bench);
		throw error;
	}
	let turn = 0;
	return {
		async time(drain) {
			await workload.ready();
			const from = pairs.map((pair) => pair[turn % 2] ?? "");
			const to = pairs.map((pair) => pair[(turn + 1) % 2] ?? "");
			turn += 1;
			await Promise.all(
				clusters.map(async ({ client }, index) => {
					await cordon(client, to[index] ?? "", false);
					await assertFull(client, from[index] ?? "", { namespace: workload.namespace, pods: apps * podsOfApp });
				}),
			);
			const startedAt = performance.now();
			await drain(from);
			return (performance.now() - startedAt) / 1_000;
		},
		async [Symbol.asyncDispose]() {
			await workload[Symbol.asyncDispose]();
			await uncordonAll(bench);
		},
	};
}

/** `onPeak` gets the peak memory of the plugin's process. */
export function byPlugin(bench: Bench, onPeak: (mb: number) => void = () => undefined): Drain {
	return async (nodes) => {
		const contexts = bench.fleet.contexts.map((context) => `${context}-operator`);
		const targets = nodes.map((node, index) => `${contexts[index]}/${node}`);
		const flags = ["--contexts", contexts.join(","), "-y", ...kubectlFlags];
		onPeak((await runProgram(bench, "kubectl-xpdb", ["drain", ...targets, ...flags])).peakMb);
	};
}

export function byKubectl(bench: Bench): Drain {
	return async (nodes) => {
		await Promise.all(
			nodes.map(async (node, index) => {
				const context = `${bench.fleet.contexts[index]}-operator`;
				await runProgram(bench, "kubectl", ["--context", context, "drain", node, ...kubectlFlags]);
			}),
		);
	};
}

function byBareCalls(bench: Bench): Drain {
	const evictor = bareEvictor(bench);
	return async (nodes) => {
		await Promise.all(
			nodes.map(async (node, cluster) => {
				const client = bench.operators[cluster];
				if (!client) throw new Error(`no cluster ${cluster}`);
				await cordon(client, node, true);
				const { items, metadata } = await podsOn(client, node);
				const left = new Set(items.map((pod) => pod.metadata?.uid));
				const over = new AbortController();
				const gone = client.watch<V1Pod>(
					`${podsPath(node)}&watch=true&resourceVersion=${metadata.resourceVersion}`,
					({ type, object }) => {
						if (type === "DELETED") left.delete(object.metadata?.uid);
						if (left.size === 0) over.abort();
					},
					over.signal,
				);
				await inLanes(lanes, items, (pod) => evictor.evict({ cluster, pod }));
				await gone.catch((error: unknown) => {
					if (!over.signal.aborted) throw error;
				});
			}),
		);
	};
}

async function assertFull(
	client: ApiClient,
	node: string,
	{ namespace, pods }: { readonly namespace: string; readonly pods: number },
): Promise<void> {
	const { items } = await podsOn(client, node);
	const ours = items.filter(({ metadata }) => metadata?.namespace === namespace);
	if (ours.length === pods && items.length === ours.length) return;
	throw new Error(`node ${node} has ${items.length} pods, ${ours.length} of them to be drained`);
}

function podsPath(node: string): string {
	return `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${node}`)}`;
}

function podsOn(
	client: ApiClient,
	node: string,
): Promise<{ readonly items: readonly V1Pod[]; readonly metadata: { readonly resourceVersion: string } }> {
	return client.get(podsPath(node));
}
