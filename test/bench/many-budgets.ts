// Measures tables and checks of 5,000 budgets in each of three clusters, beside kubectl get in each of these clusters.
import type { Bench } from "./bench.ts";
import { makeBudgets } from "./budget-lists.ts";
import type { Measurement } from "./measurement.ts";
import { runProgram } from "./programs.ts";

const namespaces = 50;
const budgetsEach = 100;
const small = { namespaces: 2, budgetsEach: 30 };

export const manyBudgets: Measurement = {
	name: "many-budgets",
	group: "scale",
	ratios: ["scale_budgets_vs_get", "scale_budgets_mb", "scale_check_s"],
	on: "screens",
	runs: { full: 3, short: 0 },
	onlyByName: true,
	async measure(bench, runs) {
		const size = bench.isSmall ? small : { namespaces, budgetsEach };
		const made: string[] = [];
		try {
			for (let number = 0; number < size.namespaces; number += 1) {
				made.push(`budgets-${number}`);
				await Promise.all(
					bench.fleet.clusters.map((cluster) => makeBudgets(cluster, `budgets-${number}`, size.budgetsEach)),
				);
			}
			const [overGet, peaks, checks]: [number[], number[], number[]] = [[], [], []];
			for (let run = 1; run <= runs; run += 1) {
				const table = await timeOf(() => runProgram(bench, "kubectl-xpdb", ["budgets", "-A", ...contexts(bench)]));
				const get = await timeOf(() => getInEach(bench));
				const check = await timeOf(() => runProgram(bench, "kubectl-xpdb", ["check", ...contexts(bench)]));
				overGet.push(table.seconds / get.seconds);
				peaks.push(table.result.peakMb);
				checks.push(check.seconds);
				bench.log(
					`  run ${run}: budgets -A ${table.seconds.toFixed(2)} s, ${table.result.peakMb.toFixed(0)} MB; kubectl get ` +
						`${get.seconds.toFixed(2)} s; check ${check.seconds.toFixed(2)} s`,
				);
			}
			return { ratios: { scale_budgets_vs_get: overGet, scale_budgets_mb: peaks, scale_check_s: checks } };
		} finally {
			for (const { client } of bench.fleet.clusters)
				for (const namespace of made) await client.send("DELETE", `/api/v1/namespaces/${namespace}`);
		}
	},
};

function contexts({ fleet }: Bench): readonly string[] {
	return ["--contexts", fleet.contexts.map((context) => `${context}-operator`).join(",")];
}

/** At the same time in all clusters. */
function getInEach(bench: Bench): Promise<unknown> {
	return Promise.all(
		bench.fleet.contexts.map((context) =>
			runProgram(bench, "kubectl", ["get", "xpdb", "-A", "--context", `${context}-operator`]),
		),
	);
}

async function timeOf<T>(work: () => Promise<T>): Promise<{ readonly seconds: number; readonly result: T }> {
	const startedAt = performance.now();
	const result = await work();
	return { seconds: (performance.now() - startedAt) / 1_000, result };
}
