// Measures what ReplicaSets without pods, which old revisions leave behind, cost an agent: at its start, for a count and while a drain
// waits.
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../demo/machine/setup-error.ts";
import { renewIntervalMs } from "../../disruption/lease/lease.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import { cpuMs } from "./cpu-time.ts";
import { questionOf } from "./crowd.ts";
import { type Crowd, fillCluster } from "./crowded-cluster.ts";
import { type LoneAgent, replaceAgents } from "./lone-agent.ts";
import type { Measurement } from "./measurement.ts";
import { memoryOf } from "./memory.ts";
import { createOldRevisions } from "./old-revisions.ts";
import { requestCountsOf } from "./request-counts.ts";
import { quantile } from "./statistics.ts";

const pods = 500;
/** The number of Deployments, with ten ReplicaSets each, in the budget's namespace and in two others. */
const sizes = { "2k": [160, 30, 10], "20k": [1_600, 300, 100] } as const;
type Size = keyof typeof sizes;
/** A count fails after 8 s (longestCountMs), after which a drain would retry. */
const attempts = 3;
/** Not counted. After this time, the agent has compared its watches with a list. */
const warmUpMs = 6_000;
const warmUpPauseMs = 100;
const countForMs = 6_000;
/** The longest interval of a drain that waits for a budget (disruption/round/grant-looks.ts). */
const lookEveryMs = 2_000;
const waitForMs = 20_000;

interface Counting {
	/** Includes acquiring the Lease. An agent that has not yet compared its watches in this namespace first lists the workloads. */
	readonly firstCountMs: number;
	readonly countMs: number;
	/** The agent's processor time per count, including its comparisons. */
	readonly countCpuMs: number;
}

/** What the agent and its control plane use while a drain waits. Percentages are of one core. */
interface Waiting {
	readonly agentPercent: number;
	readonly apiserverPercent: number;
	readonly etcdPercent: number;
	readonly readMbPerSecond: number;
	readonly listsPerSecond: number;
	readonly failedLooks: number;
	readonly lookMs: number;
}

interface Figures {
	readonly readyMs: number;
	readonly readyCpuMs: number;
	/** The counts, or the reason why all attempts failed. */
	readonly counting: Counting | string;
	readonly waiting: Waiting;
	readonly memoryMb: number;
	readonly peakMb: number;
	readonly load: number;
}

/** The reported figures of each size. `over`: divided by the figure without ReplicaSets. */
const told: Readonly<Record<string, { readonly of: (figures: Figures) => number; readonly over?: true }>> = {
	count: { of: ({ counting }) => numberOf(counting, "countMs"), over: true },
	count_cpu: { of: ({ counting }) => numberOf(counting, "countCpuMs"), over: true },
	first_count_ms: { of: ({ counting }) => numberOf(counting, "firstCountMs") },
	ready_cpu: { of: ({ readyCpuMs }) => readyCpuMs, over: true },
	rss: { of: ({ memoryMb }) => memoryMb, over: true },
	peak_mb: { of: ({ peakMb }) => peakMb },
	wait_agent_percent: { of: ({ waiting }) => waiting.agentPercent },
	wait_read_mb: { of: ({ waiting }) => waiting.readMbPerSecond },
};

const ratioOf = (size: string, name: string): string => `replica_sets_${size}_${name}`;
const sizeNames = Object.keys(sizes) as readonly Size[];

export const replicaSets: Measurement = {
	name: "replica-sets",
	ratios: sizeNames.flatMap((size) => Object.keys(told).map((name) => ratioOf(size, name))),
	on: "crowd",
	runs: { full: 2, short: 0 },
	onlyByName: true,
	async measure(bench, runs) {
		const [cluster] = bench.fleet.clusters;
		if (!cluster) throw new Error("no cluster to fill");
		const filled = await fillCluster(cluster, { apps: 1, podsPerApp: pods, budgets: { apps: 1, maxUnavailable: 5 } });
		const start = await replaceAgents(bench);
		const measured = async (what: string): Promise<readonly Figures[]> => {
			const all: Figures[] = [];
			for (let run = 1; run <= runs; run += 1) {
				await using agent = await start();
				all.push(await figuresOf(agent, { cluster, filled }));
				bench.log(`  ${what}, run ${run}: ${JSON.stringify(all.at(-1))}`);
			}
			return all;
		};
		const without = await measured("without ReplicaSets");
		const ratios: Record<string, readonly number[]> = {};
		const missing: Record<string, string> = {};
		const details: Record<string, unknown> = { without };
		for (const size of sizeNames) {
			await fill(cluster, filled, size);
			const having = await measured(`with ${size} of them`);
			details[size] = having;
			for (const [name, { of, over }] of Object.entries(told)) {
				const values = having.map((figures, run) => of(figures) / (over ? of(without[run] ?? figures) : 1));
				ratios[ratioOf(size, name)] = values.filter((value) => !Number.isNaN(value));
				missing[ratioOf(size, name)] =
					having.map(({ counting }) => counting).find((each) => typeof each === "string") ?? "";
			}
		}
		return { ratios, missing, details };
	},
};

function numberOf(counting: Counting | string, name: keyof Counting): number {
	return typeof counting === "string" ? Number.NaN : counting[name];
}

/** Adds the ReplicaSets that this size has beyond the previous one. */
async function fill(cluster: RunningCluster, { namespace }: Crowd, size: Size): Promise<void> {
	const before = sizeNames[sizeNames.indexOf(size) - 1];
	for (const [place, to] of sizes[size].entries()) {
		const from = before === undefined ? 0 : (sizes[before][place] ?? 0);
		const name = place === 0 ? namespace : `${namespace}-${place}`;
		const object = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
		if (place > 0 && from === 0) await cluster.client.send("POST", "/api/v1/namespaces", object);
		await createOldRevisions(cluster, name, { from, to });
	}
}

interface Place {
	readonly cluster: RunningCluster;
	readonly filled: Crowd;
}

async function figuresOf(agent: LoneAgent, place: Place): Promise<Figures> {
	const { pid, readyMs } = agent;
	const readyCpuMs = cpuMs(pid);
	const counting = await countedBy(agent, place);
	const waiting = await waitingAt(agent, place);
	const { now: memoryMb, highest: peakMb } = memoryOf(pid);
	return { readyMs, readyCpuMs, counting, waiting, memoryMb, peakMb, load: loadavg()[0] ?? Number.NaN };
}

async function countedBy(agent: LoneAgent, { filled }: Place): Promise<Counting | string> {
	let problem = "";
	for (let attempt = 1; attempt <= attempts; attempt += 1) {
		try {
			return await countedOnce(agent, filled);
		} catch (error) {
			problem = messageOf(error);
		}
	}
	return problem;
}

async function countedOnce({ pid, member }: LoneAgent, filled: Crowd): Promise<Counting> {
	const request = questionOf(filled);
	const acquiredAt = performance.now();
	const outcome = await member.acquire(request, { wait: true, signal: AbortSignal.timeout(20_000) });
	if (outcome.kind !== "acquired") throw new Error("the Lease was not to be had");
	const { acquisition } = outcome;
	const firstCountMs = performance.now() - acquiredAt;
	const count = async (): Promise<number> => {
		const startedAt = performance.now();
		const { healthy } = await member.count(acquisition, request);
		if (healthy !== pods) throw new Error(`${healthy} healthy pods were counted, not ${pods}`);
		return performance.now() - startedAt;
	};
	// The counts fail if the Lease is lost.
	const renewals = setInterval(() => void member.renew(acquisition).catch(() => undefined), renewIntervalMs);
	try {
		for (const until = performance.now() + warmUpMs; performance.now() < until; await delay(warmUpPauseMs))
			await count();
		const times: number[] = [];
		const before = cpuMs(pid);
		for (const until = performance.now() + countForMs; performance.now() < until; ) times.push(await count());
		const countCpuMs = (cpuMs(pid) - before) / times.length;
		await member.release(acquisition);
		return { firstCountMs, countMs: quantile(times, 0.5), countCpuMs };
	} finally {
		clearInterval(renewals);
	}
}

async function waitingAt({ pid, member }: LoneAgent, { cluster, filled }: Place): Promise<Waiting> {
	const { apiserver, etcd } = cluster.components;
	const used = async () => ({
		agent: cpuMs(pid),
		apiserver: cpuMs(apiserver.pid),
		etcd: cpuMs(etcd.pid),
		read: readBytes(pid),
		lists: (await requestCountsOf([cluster.client])).get("LIST replicasets") ?? 0,
	});
	const { budget, selector, candidates } = questionOf(filled);
	const looks: number[] = [];
	let failedLooks = 0;
	const before = await used();
	const startedAt = performance.now();
	while (performance.now() - startedAt < waitForMs) {
		const lookedAt = performance.now();
		const look = member.look({ budget, selector, candidates, thisBudgetAlone: true });
		await look.catch(() => (failedLooks += 1));
		looks.push(performance.now() - lookedAt);
		await delay(Math.max(0, lookedAt + lookEveryMs - performance.now()));
	}
	const seconds = (performance.now() - startedAt) / 1_000;
	const after = await used();
	const aSecond = (name: keyof typeof after) => (after[name] - before[name]) / seconds;
	return {
		agentPercent: aSecond("agent") / 10,
		apiserverPercent: aSecond("apiserver") / 10,
		etcdPercent: aSecond("etcd") / 10,
		readMbPerSecond: aSecond("read") / 1e6,
		listsPerSecond: aSecond("lists"),
		failedLooks,
		lookMs: quantile(looks, 0.5),
	};
}

/** Returns the bytes of all reads, nearly all of them from the network. */
function readBytes(pid: number): number {
	return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}
