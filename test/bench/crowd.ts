// One agent, idle and with 10,000 pods: memory, time to ready, and what a count costs there. Asked directly, without the
// tunnel through the API server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ManagedProcess, startProcess } from "../../demo/machine/process.ts";
import { agentServerName, createAgentClient } from "../../proto/credentials.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import type { Bench } from "./bench.ts";
import { type Crowd, fillCluster } from "./crowded-cluster.ts";
import type { Measurement } from "./measurement.ts";
import { memoryOf } from "./memory.ts";
import { quantile } from "./statistics.ts";
import { selectorOf } from "./workload.ts";

const apps = 20;
const podsPerApp = 500;
const counts = 200;
/** Uncounted: an agent that has just been started is still being compiled. */
const warmUpCounts = 200;
/** Long enough for what a start leaves behind to be collected. */
const settleMs = 5_000;
const readyTimeoutMs = 60_000;

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
		const [agents] = bench.fleet.agents;
		if (!cluster || !agents) throw new Error("no cluster to fill");
		bench.log(`  making ${apps * podsPerApp} pods`);
		const filledAt = performance.now();
		const filled = await fillCluster(cluster, { apps, podsPerApp, budgets: { apps: 1, maxUnavailable: 5 } });
		bench.log(`  that took ${((performance.now() - filledAt) / 1_000).toFixed(0)} s`);
		// From here on the agents are ours to start: with the command, the flags and the identity of a real pod of theirs.
		const [pod] = agents.list();
		if (!pod?.process) throw new Error("no agent runs");
		const start = commandOf(pod.process.pid, join(cluster.dir, "bench-agent.log"));
		agents.setRestarts(false);
		await Promise.all(agents.list().flatMap(({ process }) => (process ? [process.kill()] : [])));
		const ready: number[] = [];
		const rss: number[] = [];
		const highest: number[] = [];
		const countMs: number[] = [];
		for (let run = 1; run <= runs; run += 1) {
			const agent = start();
			try {
				ready.push(await untilReady(pod.ip, agent));
				countMs.push(await countP50(bench, cluster, pod.ip, filled));
				await delay(settleMs);
				const memory = memoryOf(agent.pid);
				rss.push(memory.now);
				highest.push(memory.highest);
			} finally {
				await agent.kill();
			}
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

/** How to start the same process again, as it was started: by its own command line and environment. */
function commandOf(pid: number, logFile: string): () => ManagedProcess {
	const words = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0").slice(0, -1);
	const [command = "", ...args] = words("cmdline");
	const env = Object.fromEntries(
		words("environ").map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
	);
	return () => startProcess({ name: "bench agent", command, args, env, logFile });
}

/** Milliseconds from now until it says that it is ready. */
async function untilReady(ip: string, agent: ManagedProcess): Promise<number> {
	const startedAt = performance.now();
	for (;;) {
		const elapsedMs = performance.now() - startedAt;
		if (!agent.running || elapsedMs > readyTimeoutMs) throw new Error(`the agent did not get ready: ${agent.logFile}`);
		const answer = await fetch(`http://${ip}:8080/readyz`).catch(() => undefined);
		await answer?.arrayBuffer();
		if (answer?.ok) return performance.now() - startedAt;
		await delay(10);
	}
}

/** Of the counts under one acquisition, which is what a decision rests on. */
async function countP50(bench: Bench, cluster: RunningCluster, ip: string, filled: Crowd): Promise<number> {
	const namespace = "xpdb-system";
	const { status } = await cluster.client.send<{ readonly status: { readonly token: string } }>(
		"POST",
		`/api/v1/namespaces/${namespace}/serviceaccounts/xpdb-operator/token`,
		{
			apiVersion: "authentication.k8s.io/v1",
			kind: "TokenRequest",
			spec: { audiences: ["xpdb-agent"], expirationSeconds: 600 },
		},
	);
	const client = createAgentClient({
		address: `${ip}:8443`,
		serverName: agentServerName(namespace),
		ca: readFileSync(join(bench.fleet.dir, "fleet-ca.crt"), "utf8"),
		identity: { kind: "token", token: async () => status.token },
	});
	const member = new RemoteCluster({ id: cluster.id, name: cluster.name, client });
	const { name = "", uid = "" } = filled.pod.metadata ?? {};
	try {
		const request = {
			budget: { namespace: filled.namespace, name: "web-0" },
			selector: selectorOf("web-0"),
			holder: "bench",
			nonce: `bench-${performance.now()}`,
			candidates: [{ namespace: filled.namespace, name, uid }],
		};
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
	} finally {
		client.close();
	}
}
