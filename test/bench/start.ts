// Measures how fast the plugin reaches a result, compared with kubectl: from its start to an eviction in the audit log, and for a table of
// budgets. The commands alternate, so that all run under the same conditions.
import { setTimeout as delay } from "node:timers/promises";
import { readTimeline } from "../../demo/audit/audit.ts";
import type { Bench } from "./bench.ts";
import type { Measurement } from "./measurement.ts";
import { cordon, cordonOthers, freeNodes, uncordonAll } from "./nodes.ts";
import { runProgram } from "./programs.ts";
import { median } from "./statistics.ts";
import { createWorkload } from "./workload.ts";

const pairs = { full: 8, short: 5, small: 1 };
/** The audit log is written shortly after the eviction. */
const auditedWithinMs = 5_000;

const evictions = ["ours", "kubectl", "oursInThreeContexts"] as const;
const tables = ["budgets", "get"] as const;
const ways = [...evictions, ...tables] as const;
type Eviction = (typeof evictions)[number];
type Way = (typeof ways)[number];
type Times = Readonly<Record<Way, readonly number[]>>;

export const start: Measurement = {
	name: "start",
	ratios: ["evict_start_vs_kubectl", "evict_start_3_contexts_vs_kubectl", "budgets_vs_get"],
	on: "fleet",
	runs: { full: 3, short: 1 },
	seconds: { once: 8, each: 33 },
	async measure(bench, runs) {
		await using scene = await createScene(bench);
		const first = await scene.takeTurns(1);
		const measured: Times[] = [];
		for (let run = 1; run <= runs; run += 1) {
			const times = await scene.takeTurns(bench.isSmall ? pairs.small : runs > 1 ? pairs.full : pairs.short);
			measured.push(times);
			const shown = ways.map((way) => `${way} ${median(times[way]).toFixed(0)} ms`);
			bench.log(`  run ${run}: p50 ${shown.join(", ")}`);
		}
		const over = (way: Way, other: Way): readonly number[] =>
			measured.map((times) => median(times[way]) / median(times[other]));
		return {
			ratios: {
				evict_start_vs_kubectl: over("ours", "kubectl"),
				evict_start_3_contexts_vs_kubectl: over("oursInThreeContexts", "kubectl"),
				budgets_vs_get: over("budgets", "get"),
			},
			details: { ms: measured, firstMs: first },
		};
	},
};

interface Scene extends AsyncDisposable {
	/** Measures each way `count` times, in turn. Returns milliseconds. */
	takeTurns(count: number): Promise<Times>;
}

async function createScene(bench: Bench): Promise<Scene> {
	const { fleet } = bench;
	const [cluster] = fleet.clusters;
	if (!cluster) throw new Error("no cluster");
	const { client } = cluster;
	const logs = [cluster];
	const [node = ""] = await freeNodes(bench, 0);
	await using made = new AsyncDisposableStack();
	made.defer(() => uncordonAll(bench));
	await cordon(client, node, true);
	const clients = fleet.clusters.map((each) => each.client);
	const covered = made.use(await createWorkload({ clients, apps: 1, replicas: 1, budget: { maxUnavailable: 1 } }));
	await covered.ready();
	await cordon(client, node, false);
	await cordonOthers(client, node);
	const workload = made.use(await createWorkload({ clients: [client], apps: 1, replicas: 1 }));
	const contexts = fleet.contexts.map((context) => `${context}-operator`);
	const [context = ""] = contexts;
	const { namespace } = workload;

	async function timeOf(way: Way): Promise<number> {
		if (way === "budgets") return timeOfTable("kubectl-xpdb", ["budgets"]);
		if (way === "get") return timeOfTable("kubectl", ["get", "pods"]);
		return timeOfEviction(way);
	}

	async function timeOfTable(program: "kubectl" | "kubectl-xpdb", args: readonly string[]): Promise<number> {
		const startedAt = performance.now();
		await runProgram(bench, program, [...args, "--context", context, "-n", covered.namespace]);
		return performance.now() - startedAt;
	}

	async function timeOfEviction(way: Eviction): Promise<number> {
		await workload.ready();
		const [pods = []] = await workload.pods();
		const pod = pods[0]?.metadata?.name ?? "";
		const evict = ["xpdb", "evict", "-n", namespace, "-y"];
		const args = {
			ours: [...evict, pod, "--context", context],
			oursInThreeContexts: [...evict, `${context}/${pod}`, "--contexts", contexts.join(",")],
			kubectl: ["drain", node, "--context", context, "--ignore-daemonsets"],
		} satisfies Record<Eviction, readonly string[]>;
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

	const scene = made.move();
	return {
		async takeTurns(count) {
			const times = {
				ours: new Array<number>(),
				kubectl: new Array<number>(),
				oursInThreeContexts: new Array<number>(),
				budgets: new Array<number>(),
				get: new Array<number>(),
			};
			for (let turn = 0; turn < count; turn += 1) {
				for (const way of ways) times[way].push(await timeOf(way));
			}
			return times;
		},
		[Symbol.asyncDispose]: () => scene.disposeAsync(),
	};
}
