// Measures a list of 1,000 budgets by the agent, and what the agent's comparison of its watch with lists costs afterwards.
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { RunningCluster } from "../controlplane/cluster.ts";
import { cpuPerThing, cpuTimeOf } from "./cpu-time.ts";
import { openMember } from "./lone-agent.ts";
import type { Measurement } from "./measurement.ts";
import { quantile } from "./statistics.ts";
import { inLanes } from "./worker-lanes.ts";

const budgets = 1_000;
const lists = 100;
/** Not counted: a new agent is slower while its code is being compiled. */
const warmUpLists = 50;
/** Enough for several comparisons, which run every 2 s (agent/views/watch-comparison.ts). */
const comparedForMs = 20_000;
const lanes = 24;

export const budgetLists: Measurement = {
	name: "budget-lists",
	ratios: ["list_budgets_ms_1k", "list_budgets_agent_ms_1k"],
	on: "crowd",
	runs: { full: 3, short: 0 },
	seconds: { once: 20, each: 10 },
	async measure(bench, runs) {
		const [cluster] = bench.fleet.clusters;
		const [agent] = bench.fleet.agents.flatMap((pods) => pods.list());
		if (!cluster || !agent) throw new Error("no agent to ask");
		const namespace = `budgets-${randomBytes(4).toString("hex")}`;
		await makeBudgets(cluster, namespace, budgets);
		const { member, close } = await openMember(bench, agent.ip);
		const list = async (): Promise<number> => {
			const startedAt = performance.now();
			const found = (await member.listBudgets([namespace])).budgets.length;
			if (found !== budgets) throw new Error(`${found} budgets were listed, not ${budgets}`);
			return performance.now() - startedAt;
		};
		try {
			for (let count = 0; count < warmUpLists; count += 1) await list();
			const p50: number[] = [];
			const p99: number[] = [];
			const cpu: Readonly<Record<string, number>>[] = [];
			for (let run = 1; run <= runs; run += 1) {
				const times: number[] = [];
				const before = cpuTimeOf(bench);
				for (let count = 0; count < lists; count += 1) times.push(await list());
				cpu.push(cpuPerThing(before, cpuTimeOf(bench), lists));
				p50.push(quantile(times, 0.5));
				p99.push(quantile(times, 0.99));
				bench.log(`  run ${run}: ${p50.at(-1)?.toFixed(1)} ms, of processors ${JSON.stringify(cpu.at(-1))} ms a list`);
			}
			const before = cpuTimeOf(bench);
			await delay(comparedForMs);
			const compared = cpuPerThing(before, cpuTimeOf(bench), comparedForMs / 1_000);
			bench.log(`  afterwards, while it compares: of processors ${JSON.stringify(compared)} ms a second`);
			return {
				ratios: { list_budgets_ms_1k: p50, list_budgets_agent_ms_1k: cpu.map(({ agents = Number.NaN }) => agents) },
				details: { budgets, p99, cpuMsPerList: cpu, cpuMsPerSecondOfComparing: compared },
			};
		} finally {
			close();
			await cluster.client.send("DELETE", `/api/v1/namespaces/${namespace}`);
		}
	},
};

export async function makeBudgets({ client }: RunningCluster, namespace: string, count: number): Promise<void> {
	const names = Array.from({ length: count }, (_, number) => `app-${String(number).padStart(4, "0")}`);
	await client.send("POST", "/api/v1/namespaces", {
		apiVersion: "v1",
		kind: "Namespace",
		metadata: { name: namespace },
	});
	await inLanes(lanes, names, async (name) => {
		await client.send("POST", `/apis/x-pdb.form3.tech/v1alpha1/namespaces/${namespace}/xpoddisruptionbudgets`, {
			apiVersion: "x-pdb.form3.tech/v1alpha1",
			kind: "XPodDisruptionBudget",
			metadata: { name, namespace },
			spec: { selector: { matchLabels: { app: name } }, maxUnavailable: 1 },
		});
	});
}
