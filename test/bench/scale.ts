// Measures one agent of the shipped size with 10,000 pods and with 150,000, the most that Kubernetes supports: its start, its counts, its
// memory, and a restart of the API server.
import { setTimeout as delay } from "node:timers/promises";
import type { AcquireRequest } from "../../disruption/budget/cluster.ts";
import { renewIntervalMs } from "../../disruption/lease/lease.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import { createBudget, fillCluster } from "./crowded-cluster.ts";
import { type LoneAgent, replaceAgents } from "./lone-agent.ts";
import type { Measurement } from "./measurement.ts";
import { memoryOf } from "./memory.ts";
import { bareStreamMs } from "./pod-stream.ts";
import { listsOfAllPods } from "./request-counts.ts";
import { quantile } from "./statistics.ts";
import { inLanes } from "./worker-lanes.ts";
import { selectorOf } from "./workload.ts";

/** `few`: 10,000 pods in apps of 100. `many`: an app of 10,000 more, and the rest in apps of 100. */
const sizes = { few: 10_000, many: 150_000 } as const;
const small = { few: 200, many: 600 } as const;
const podsPerApp = 100;
/** Real pods take 7.6 KB in JSON. */
const padding = 4_000;
const newBudgets = 20;
const counts = 100;
const warmUpCounts = 100;
/** Long enough for the garbage of the start to be collected. */
const settleMs = 5_000;
const restartedWithinMs = 120_000;
const askAgainMs = 50;
const lanes = 24;

interface Figures {
	readonly pods: number;
	readonly readyMs: number;
	/** The API server's own stream of all pods in protobuf, read and thrown away. */
	readonly streamMs: number;
	readonly firstMs: number;
	readonly countOf100Ms: number;
	readonly countOfManyMs: number;
	readonly steadyMb: number;
	readonly peakMb: number;
}

interface Restart {
	/** From the API server's readiness to the first count. */
	readonly countedAfterMs: number;
	readonly listsOfAllPods: number;
	readonly peakMb: number;
}

export const scale: Measurement = {
	name: "scale",
	ratios: [
		"scale_first_count_ms_few",
		"scale_first_count_ms",
		"scale_count_100",
		"scale_count_many",
		"scale_ready_vs_stream",
		"scale_agent_mb",
		"scale_agent_peak_mb",
		"scale_bytes_a_pod",
		"scale_restart_s",
		"scale_restart_lists",
	],
	on: "crowd",
	runs: { full: 1, short: 0 },
	onlyByName: true,
	async measure(bench) {
		const [cluster] = bench.fleet.clusters;
		if (!cluster) throw new Error("no cluster to fill");
		const size = bench.isSmall ? small : sizes;
		const start = await replaceAgents(bench);
		const fill = async (namespace: string, apps: number, podsInEach: number): Promise<void> => {
			const startedAt = performance.now();
			const budgets = { apps: 1, maxUnavailable: 5 };
			await fillCluster(cluster, { apps, podsPerApp: podsInEach, budgets, namespace, padding });
			bench.log(`  ${apps * podsInEach} pods made in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
		};
		const measured = async (pods: number): Promise<Figures> => {
			await using agent = await start();
			const figures = await figuresOf(agent, cluster, pods, size.few);
			bench.log(`  ${JSON.stringify(figures)}`);
			return figures;
		};
		await fill("few", size.few / podsPerApp, podsPerApp);
		await fill("large", 1, size.few);
		const few = await measured(2 * size.few);
		const rest = size.many - 2 * size.few;
		await fill("many", rest / podsPerApp, podsPerApp);
		const many = await measured(size.many);
		await using agent = await start();
		const restart = await restarted(agent, cluster);
		bench.log(`  ${JSON.stringify(restart)}`);
		return {
			ratios: {
				scale_first_count_ms_few: [few.firstMs],
				scale_first_count_ms: [many.firstMs],
				scale_count_100: [many.countOf100Ms / few.countOf100Ms],
				scale_count_many: [many.countOfManyMs / few.countOfManyMs],
				scale_ready_vs_stream: [many.readyMs / many.streamMs],
				scale_agent_mb: [many.steadyMb],
				scale_agent_peak_mb: [Math.max(many.peakMb, restart.peakMb)],
				scale_bytes_a_pod: [((many.steadyMb - few.steadyMb) * 1_048_576) / rest],
				scale_restart_s: [restart.countedAfterMs / 1_000],
				scale_restart_lists: [restart.listsOfAllPods],
			},
			details: { few, many, restart },
		};
	},
};

async function figuresOf(agent: LoneAgent, cluster: RunningCluster, pods: number, inLarge: number): Promise<Figures> {
	const { pid, readyMs } = agent;
	const streamMs = await bareStreamMs(cluster);
	const firstMs = await firstCountMs(agent, cluster);
	const countOf100Ms = await countMs(agent, { namespace: "few", healthy: podsPerApp });
	const countOfManyMs = await countMs(agent, { namespace: "large", healthy: inLarge });
	await delay(settleMs);
	const { now: steadyMb, highest: peakMb } = memoryOf(pid);
	return { pods, readyMs, streamMs, firstMs, countOf100Ms, countOfManyMs, steadyMb, peakMb };
}

/** The median time of acquisitions of budgets that are new: no count has used them. */
async function firstCountMs({ member }: LoneAgent, { client }: RunningCluster): Promise<number> {
	const names = Array.from({ length: newBudgets }, (_, number) => `new-${performance.now()}-${number}`);
	await inLanes(lanes, names, (name) =>
		createBudget(client, { namespace: "few", name, app: "web-1", maxUnavailable: 5 }),
	);
	// The agent's watch has shown them all.
	await delay(2_000);
	const times: number[] = [];
	for (const name of names) {
		const startedAt = performance.now();
		const outcome = await member.acquire(questionOf("few", { name, app: "web-1" }), waiting());
		times.push(performance.now() - startedAt);
		if (outcome.kind !== "acquired") throw new Error("the Lease was not to be had");
		await member.release(outcome.acquisition);
	}
	return quantile(times, 0.5);
}

async function countMs(
	{ member }: LoneAgent,
	{ namespace, healthy }: { readonly namespace: string; readonly healthy: number },
): Promise<number> {
	const request = questionOf(namespace);
	const outcome = await member.acquire(request, waiting());
	if (outcome.kind !== "acquired") throw new Error("the Lease was not to be had");
	const { acquisition } = outcome;
	const renewals = setInterval(() => void member.renew(acquisition).catch(() => undefined), renewIntervalMs);
	try {
		const times: number[] = [];
		for (let count = 0; count < warmUpCounts + counts; count += 1) {
			const startedAt = performance.now();
			const counted = await member.count(acquisition, request);
			if (counted.healthy !== healthy) throw new Error(`${counted.healthy} healthy pods, not ${healthy}`);
			if (count >= warmUpCounts) times.push(performance.now() - startedAt);
		}
		await member.release(acquisition);
		return quantile(times, 0.5);
	} finally {
		clearInterval(renewals);
	}
}

async function restarted(agent: LoneAgent, cluster: RunningCluster): Promise<Restart> {
	await cluster.restart("apiserver");
	const readyAt = performance.now();
	for (;;) {
		const outcome = await agent.member
			.acquire(questionOf("few"), waiting())
			.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
		const countedAfterMs = performance.now() - readyAt;
		if (!(outcome instanceof Error) && outcome.kind === "acquired") {
			await agent.member.release(outcome.acquisition);
			// The view is read again meanwhile.
			await delay(settleMs + 4 * countedAfterMs);
			const lists = await listsOfAllPods(cluster.client);
			return { countedAfterMs, listsOfAllPods: lists, peakMb: memoryOf(agent.pid).highest };
		}
		if (countedAfterMs > restartedWithinMs)
			throw new Error("no count in two minutes", { cause: outcome instanceof Error ? outcome : undefined });
		await delay(askAgainMs);
	}
}

function questionOf(
	namespace: string,
	{ name, app }: { readonly name: string; readonly app: string } = { name: "web-0", app: "web-0" },
): AcquireRequest {
	return {
		budget: { namespace, name },
		selector: selectorOf(app),
		holder: "bench",
		nonce: `bench-${performance.now()}`,
		candidates: [],
	};
}

function waiting() {
	return { wait: true, signal: AbortSignal.timeout(20_000) } as const;
}
