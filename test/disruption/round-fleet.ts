// A fleet of two for the tests of a round.
import type { Count } from "../../disruption/budget/cluster.ts";
import type { RoundRequest } from "../../disruption/round/acquire-leases.ts";
import { runRound } from "../../disruption/round/round.ts";
import type { RoundVerdict } from "../../disruption/round/ticket.ts";
import { budget, podReference, presentPod, selector } from "../support/build-count.ts";
import { createManualRuntime } from "./manual-runtime.ts";
import { ScriptedCluster } from "./scripted-cluster.ts";

const candidates = [presentPod("db-0"), presentPod("db-1")];

/** The candidates are in "eu". At most one of the six pods may be down. */
export function setUpRound(counted: Partial<Count> = {}) {
	const calls: string[] = [];
	const eu = new ScriptedCluster("eu", calls, { candidates, ...counted });
	const us = new ScriptedCluster("us", calls);
	const runtime = createManualRuntime();
	const run = (request: Partial<RoundRequest> = {}) =>
		runRound(
			{
				clusters: [eu, us],
				budgets: [{ name: budget, selector }],
				holder: "drain-7f",
				candidates: [{ clusterId: "eu", pod: podReference("db-0") }],
				signal: new AbortController().signal,
				...request,
			},
			runtime,
		);
	return { calls, eu, us, runtime, run };
}

export function kinds(verdicts: readonly RoundVerdict[]): readonly string[] {
	return verdicts.map((verdict) => ("reason" in verdict ? `${verdict.kind} ${verdict.reason}` : verdict.kind));
}
