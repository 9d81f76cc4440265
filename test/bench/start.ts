// One pod without a budget, in a namespace without one: from the start of the process to the eviction in the audit log. The two take
// turns on the same node, so that both meet the same machine; both have run once before, with their caches in a home of their own.
import { setTimeout as delay } from "node:timers/promises";
import { readTimeline } from "../../demo/audit/audit.ts";
import type { Bench } from "./bench.ts";
import type { Measurement } from "./measurement.ts";
import { cordon, cordonOthers, freeNodes, uncordonAll } from "./nodes.ts";
import { runProgram } from "./programs.ts";
import { median } from "./statistics.ts";
import { createWorkload, type Workload } from "./workload.ts";

const pairs = { full: 8, short: 5 };
/** The clocks of the process and of the audit log are one; the log is written at once, but not in the same moment. */
const auditedWithinMs = 5_000;

const ways = ["ours", "kubectl", "oursInThreeContexts"] as const;
type Way = (typeof ways)[number];
type Times = Readonly<Record<Way, readonly number[]>>;

export const start: Measurement = {
	name: "start",
	ratios: ["evict_start_vs_kubectl", "evict_start_3_contexts_vs_kubectl"],
	on: "fleet",
	runs: { full: 3, short: 1 },
	seconds: { once: 4, each: 28 },
	async measure(bench, runs) {
		await using scene = await createScene(bench);
		const first = await scene.takeTurns(1);
		const measured: Times[] = [];
		for (let run = 1; run <= runs; run += 1) {
			const times = await scene.takeTurns(runs > 1 ? pairs.full : pairs.short);
			measured.push(times);
			const shown = ways.map((way) => `${way} ${median(times[way]).toFixed(0)} ms`);
			bench.log(`  run ${run}: p50 ${shown.join(", ")}`);
		}
		const over = (way: Way): readonly number[] => measured.map((times) => median(times[way]) / median(times.kubectl));
		return {
			ratios: {
				evict_start_vs_kubectl: over("ours"),
				evict_start_3_contexts_vs_kubectl: over("oursInThreeContexts"),
			},
			details: { ms: measured, firstMs: first },
		};
	},
};

interface Scene extends AsyncDisposable {
	/** Milliseconds of each, so many times, one after the other. */
	takeTurns(count: number): Promise<Times>;
}

/** A node of the first cluster with a single pod, which comes back to it. */
async function createScene(bench: Bench): Promise<Scene> {
	const { fleet } = bench;
	const [cluster] = fleet.clusters;
	if (!cluster) throw new Error("no cluster");
	const { client } = cluster;
	const logs = [cluster];
	const [node = ""] = await freeNodes(bench, 0);
	let workload: Workload;
	try {
		await cordonOthers(client, node);
		workload = await createWorkload({ clients: [client], apps: 1, replicas: 1 });
	} catch (error) {
		await uncordonAll(bench);
		throw error;
	}
	const contexts = fleet.contexts.map((context) => `${context}-operator`);
	const [context = ""] = contexts;
	const { namespace } = workload;

	async function timeOf(way: Way): Promise<number> {
		await workload.ready();
		const [pods = []] = await workload.pods();
		const pod = pods[0]?.metadata?.name ?? "";
		const evict = ["xpdb", "evict", "-n", namespace, "-y"];
		const args = {
			ours: [...evict, pod, "--context", context],
			oursInThreeContexts: [...evict, `${context}/${pod}`, "--contexts", contexts.join(",")],
			kubectl: ["drain", node, "--context", context, "--ignore-daemonsets"],
		} satisfies Record<Way, readonly string[]>;
		const startedAt = performance.timeOrigin + performance.now();
		await runProgram(bench, "kubectl", args[way]);
		const ms = (await evictedAt(pod)) - startedAt;
		await cordon(client, node, false);
		return ms;
	}

	async function evictedAt(pod: string): Promise<number> {
		const until = performance.now() + auditedWithinMs;
		for (;;) {
			const events = await readTimeline(logs);
			const eviction = events.find(
				({ resource, name, code }) => resource === "pods/eviction" && name === pod && code === 201,
			);
			if (eviction) return eviction.completedAt / 1_000;
			if (performance.now() > until) throw new Error(`the audit log has no eviction of ${namespace}/${pod}`);
			await delay(100);
		}
	}

	return {
		async takeTurns(count) {
			const times = {
				ours: new Array<number>(),
				kubectl: new Array<number>(),
				oursInThreeContexts: new Array<number>(),
			};
			for (let turn = 0; turn < count; turn += 1) {
				for (const way of ways) times[way].push(await timeOf(way));
			}
			return times;
		},
		async [Symbol.asyncDispose]() {
			await workload[Symbol.asyncDispose]();
			await uncordonAll(bench);
		},
	};
}
