// Plays the clients of a soak: drains and evictions by the plugin, some of them interrupted or killed, and clients without xpdb that evict,
// scale, and make another pod the primary.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isTransient } from "../../demo/machine/api-client.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import type { Fleet } from "../controlplane/fleet.ts";
import {
	database,
	elected,
	healthyPods,
	namespace,
	primary,
	roleLabel,
	scaleWorkload,
	setRole,
	web,
} from "./workload.ts";

export interface SoakContext {
	readonly fleet: Fleet;
	readonly random: () => number;
	/** Ends the actors after their current work. */
	readonly stop: AbortSignal;
	readonly tally: SoakTally;
}

export interface SoakTally {
	/** Runs of the plugin by their ending, for example "drain 0", "evict 1" or "drain SIGKILL". */
	readonly runs: Map<string, number>;
	/** How often the output of runs says that a pod waits, or that a budget has no disruption left. */
	refusals: number;
	/** Output that no run of the plugin may print. */
	readonly crashes: string[];
}

const nodes = 3;

function pick<T>(items: readonly T[], random: () => number): T | undefined {
	return items[Math.floor(random() * items.length)];
}

/** Waits a random time, at most this long. Resolves at once when the soak stops. */
async function pause(seconds: number, { random, stop }: SoakContext): Promise<void> {
	await delay(random() * seconds * 1000, undefined, { signal: stop }).catch(() => undefined);
}

/** Runs the plugin once. One run in eight is interrupted, and one in sixteen is killed. */
async function runPlugin(args: readonly string[], soak: SoakContext): Promise<void> {
	const { fleet, random, tally } = soak;
	const child = spawn(join(fleet.dir, "bin", "kubectl-xpdb"), args, {
		env: { ...process.env, KUBECONFIG: fleet.kubeconfigPath, TMPDIR: fleet.dir },
		stdio: ["ignore", "ignore", "pipe"],
	});
	const fate = random();
	const signal = fate < 1 / 16 ? "SIGKILL" : fate < 3 / 16 ? "SIGINT" : undefined;
	const timer = signal && setTimeout(() => child.kill(signal), random() * 4_000);
	let output = "";
	child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
	const ending = await new Promise<string>((resolve) => {
		child.once("close", (code, by) => resolve(by ?? String(code)));
	});
	clearTimeout(timer);
	const key = `${args[0]} ${ending}`;
	tally.runs.set(key, (tally.runs.get(key) ?? 0) + 1);
	tally.refusals += output.match(/ waits: | has no disruption left/g)?.length ?? 0;
	if (/internal error|\n\s+at .*:\d+/.test(output)) tally.crashes.push(`${args.join(" ")}: ${output.slice(0, 500)}`);
}

export async function drainForEver(cluster: RunningCluster, soak: SoakContext): Promise<void> {
	const context = ["--context", `${cluster.name}-operator`];
	while (!soak.stop.aborted) {
		const node = `${cluster.name}-n${Math.floor(soak.random() * nodes)}`;
		const flags = ["--ignore-daemonsets", "--delete-emptydir-data", "--timeout", "90s"];
		await runPlugin(["drain", node, ...context, ...flags], soak);
		await uncordon(cluster, node, soak);
		await pause(2, soak);
	}
}

/** Retries until it succeeds, because the API server may be frozen. */
async function uncordon({ client }: RunningCluster, node: string, { stop }: SoakContext): Promise<void> {
	for (;;) {
		try {
			const body = { spec: { unschedulable: null } };
			await client.send("PATCH", `/api/v1/nodes/${node}`, body, "application/merge-patch+json");
			return;
		} catch (error) {
			if (!isTransient(error)) throw error;
			await delay(stop.aborted ? 200 : 1_000);
		}
	}
}

export async function evictForEver(soak: SoakContext): Promise<void> {
	while (!soak.stop.aborted) {
		await pause(3, soak);
		await disturb(soak, async (cluster) => {
			const workload = pick([database, web, elected], soak.random) ?? web;
			const pod = pick(await healthyPods(cluster, workload), soak.random);
			if (!pod) return;
			const context = ["--context", `${cluster.name}-operator`];
			await runPlugin(["evict", pod.metadata.name, "-n", namespace, ...context, "--timeout", "60s"], soak);
		});
	}
}

/** Evicts without the plugin, as a `kubectl drain` or an autoscaler does. */
export async function evictRawForEver(soak: SoakContext): Promise<void> {
	while (!soak.stop.aborted) {
		await pause(60, soak);
		await disturb(soak, async (cluster) => {
			const pod = pick(await healthyPods(cluster, web), soak.random);
			if (!pod) return;
			const { name } = pod.metadata;
			await cluster.client.send("POST", `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
				apiVersion: "policy/v1",
				kind: "Eviction",
				metadata: { name, namespace },
			});
		});
	}
}

export async function scaleForEver(soak: SoakContext): Promise<void> {
	while (!soak.stop.aborted) {
		await pause(60, soak);
		await disturb(soak, async (cluster) => {
			await scaleWorkload(cluster, web, web.replicas + (soak.random() < 0.5 ? 1 : 0));
		});
	}
}

/** Makes another pod the primary before it demotes the old one, as careful databases do. */
export async function failOverForEver(soak: SoakContext): Promise<void> {
	while (!soak.stop.aborted) {
		await pause(12, soak);
		await disturb(soak, async (chosen) => {
			const [next] = await healthyPods(chosen, elected);
			if (!next || next.metadata.labels?.[roleLabel] === primary) return;
			await setRole(chosen, next, primary);
			for (const cluster of soak.fleet.clusters) {
				for (const pod of await healthyPods(cluster, elected)) {
					const isBefore = pod.metadata.uid !== next.metadata.uid && pod.metadata.labels?.[roleLabel] === primary;
					if (isBefore) await setRole(cluster, pod, "replica");
				}
			}
		});
	}
}

/** Works in a random cluster. Ignores failures of its API server, and pods that are gone or have changed. */
async function disturb(soak: SoakContext, work: (cluster: RunningCluster) => Promise<void>): Promise<void> {
	const cluster = pick(soak.fleet.clusters, soak.random);
	if (!cluster || soak.stop.aborted) return;
	try {
		await work(cluster);
	} catch (error) {
		if (!isTransient(error) && !/: 40[49] /.test(String(error))) throw error;
	}
}
