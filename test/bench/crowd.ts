// Measures the memory of idle agents. Measures one agent with 10,000 pods: its memory, its time to ready, and the duration of a count.
import { setTimeout as delay } from "node:timers/promises";
import type { AcquireRequest } from "../../disruption/budget/cluster.ts";
import type { RemoteCluster } from "../../proto/remote-cluster.ts";
import { type Crowd, fillCluster } from "./crowded-cluster.ts";
import { replaceAgents } from "./lone-agent.ts";
import type { Measurement } from "./measurement.ts";
import { memoryOf } from "./memory.ts";
import { quantile } from "./statistics.ts";
import { selectorOf } from "./workload.ts";

const apps = 20;
const podsPerApp = 500;
const counts = 200;
/** Not counted: a new agent is slower while its code is being compiled. */
const warmUpCounts = 200;
/** Long enough for the garbage of the start to be collected. */
const settleMs = 5_000;

export const idleMemory: Measurement = {
	name: "memory",
	ratios: ["agent_rss_mb"],
	on: "fleet",
	runs: { full: 1, short: 1 },
	seconds: { once: 0, each: 5 },
	async measure({ fleet }) {
		await delay(settleMs);
		const agents = fleet.agents.flatMap((pods) => pods.list());
		const megabytes = agents.flatMap(({ process }) => (process ? [memoryOf(process.pid).now] : []));
		return { ratios: { agent_rss_mb: megabytes } };
	},
};

export const crowd: Measurement = {
	name: "crowd",
	ratios: ["count_ms_10k", "agent_rss_mb_10k", "agent_ready_ms_10k"],
	on: "crowd",
	runs: { full: 3, short: 0 },
	seconds: { once: 46, each: 9 },
	async measure(bench, runs) {
		const [cluster] = bench.fleet.clusters;
		if (!cluster) throw new Error("no cluster to fill");
		bench.log(`  making ${apps * podsPerApp} pods`);
		const filledAt = performance.now();
		const filled = await fillCluster(cluster, { apps, podsPerApp, budgets: { apps: 1, maxUnavailable: 5 } });
		bench.log(`  that took ${((performance.now() - filledAt) / 1_000).toFixed(0)} s`);
		const startAgent = await replaceAgents(bench);
		const ready: number[] = [];
		const rss: number[] = [];
		const highest: number[] = [];
		const countMs: number[] = [];
		for (let run = 1; run <= runs; run += 1) {
			await using agent = await startAgent();
			ready.push(agent.readyMs);
			countMs.push(await countP50(agent.member, filled));
			await delay(settleMs);
			const memory = memoryOf(agent.pid);
			rss.push(memory.now);
			highest.push(memory.highest);
			bench.log(
				`  run ${run}: ready after ${ready.at(-1)?.toFixed(0)} ms, count ${countMs.at(-1)?.toFixed(2)} ms, ` +
					`${rss.at(-1)?.toFixed(0)} MB (at most ${highest.at(-1)?.toFixed(0)})`,
			);
		}
		return {
			ratios: { count_ms_10k: countMs, agent_rss_mb_10k: rss, agent_ready_ms_10k: ready },
			details: { highestMb: highest, pods: apps * podsPerApp, counted: podsPerApp },
		};
	},
};

async function countP50(member: RemoteCluster, filled: Crowd): Promise<number> {
	const request = questionOf(filled);
	const outcome = await member.acquire(request, { wait: true, signal: AbortSignal.timeout(20_000) });
	if (outcome.kind !== "acquired") throw new Error("the Lease was not to be had");
	const times: number[] = [];
	for (let count = 0; count < warmUpCounts + counts; count += 1) {
		const startedAt = performance.now();
		const { healthy } = await member.count(outcome.acquisition, request);
		if (count >= warmUpCounts) times.push(performance.now() - startedAt);
		if (healthy !== podsPerApp) throw new Error(`${healthy} healthy pods were counted, not ${podsPerApp}`);
	}
	await member.release(outcome.acquisition);
	return quantile(times, 0.5);
}

export function questionOf({ namespace, pod: { metadata } }: Crowd): AcquireRequest {
	return {
		budget: { namespace, name: "web-0" },
		selector: selectorOf("web-0"),
		holder: "bench",
		nonce: `bench-${performance.now()}`,
		candidates: [{ namespace, name: metadata?.name ?? "", uid: metadata?.uid ?? "" }],
	};
}
