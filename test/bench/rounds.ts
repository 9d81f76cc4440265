// Measures rounds per second under one budget and under 100 at once. The budgets are used up: no round
// grants an eviction, so every round can request the same pod again.
import { runRound } from "../../disruption/round/round.ts";
import { createRunRuntime } from "../../plugin/run/run-runtime.ts";
import { type BenchPod, openEvictor } from "./evictor.ts";
import type { Measurement } from "./measurement.ts";
import { benchPods } from "./rates.ts";
import { createWorkload, selectorOf, type Workload } from "./workload.ts";

const budgetsPerNamespace = 10;
const namespaces = 10;
const measureMs = 6_000;

interface Target {
	readonly namespace: string;
	readonly name: string;
	readonly candidate: BenchPod;
}

export const rounds: Measurement = {
	name: "rounds",
	ratios: ["rounds_scale"],
	on: "fleet",
	runs: { full: 3, short: 0 },
	seconds: { once: 60, each: 16 },
	async measure(bench, runs) {
		const clients = bench.fleet.clusters.map(({ client }) => client);
		await using stack = new AsyncDisposableStack();
		const made = await Promise.all(
			Array.from({ length: namespaces }, () =>
				createWorkload({ clients, apps: budgetsPerNamespace, replicas: 1, budget: { maxUnavailable: 0 } }),
			),
		);
		for (const workload of made) stack.use(workload);
		const targets = (await Promise.all(made.map(targetsOf))).flat();
		const engine = await openEvictor(bench);
		stack.defer(() => engine.close());
		const { members } = engine.fleet;
		const runtime = createRunRuntime(() => undefined);
		const ids = bench.fleet.clusters.map(({ id }) => id);

		async function roundsOf({ namespace, name, candidate }: Target, until: number): Promise<number> {
			const { uid = "", name: pod = "" } = candidate.pod.metadata ?? {};
			let count = 0;
			for (; performance.now() < until; count += 1) {
				const verdicts = await runRound(
					{
						clusters: members,
						budgets: [{ name: { namespace, name }, selector: selectorOf(name) }],
						holder: `bench ${name}`,
						candidates: [{ clusterId: ids[candidate.cluster] ?? "", pod: { namespace, name: pod, uid } }],
						signal: new AbortController().signal,
					},
					runtime,
				);
				const [verdict] = verdicts;
				if (verdict?.kind !== "waiting" || verdict.reason !== "BudgetExhausted") {
					throw new Error(`a round of ${namespace}/${name} came to ${JSON.stringify(verdicts)}`);
				}
			}
			return count;
		}

		async function perSecond(active: readonly Target[]): Promise<number> {
			const startedAt = performance.now();
			const counts = await Promise.all(active.map((target) => roundsOf(target, startedAt + measureMs)));
			return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - startedAt) / 1_000);
		}

		const one: number[] = [];
		const hundred: number[] = [];
		for (let run = 1; run <= runs; run += 1) {
			one.push(await perSecond(targets.slice(0, 1)));
			hundred.push(await perSecond(targets));
			bench.log(
				`  run ${run}: one budget ${one.at(-1)?.toFixed(1)} rounds a second, 100 ${hundred.at(-1)?.toFixed(1)}`,
			);
		}
		return {
			ratios: { rounds_scale: hundred.map((rate, run) => rate / (one[run] ?? Number.NaN)) },
			details: { onePerSecond: one, hundredPerSecond: hundred },
		};
	},
};

async function targetsOf(workload: Workload): Promise<readonly Target[]> {
	const found = new Map<string, BenchPod>();
	for (const pod of await benchPods(workload)) found.set(pod.pod.metadata?.labels?.["app"] ?? "", pod);
	return [...found].map(([name, candidate]) => ({ namespace: workload.namespace, name, candidate }));
}
