// What is measured, logged and remembered of the calls.
import { status } from "@grpc/grpc-js";
import type { AcquireOutcome, Acquisition, Cluster, CommitOutcome } from "../../disruption/cluster.ts";
import type { HeldLeases } from "../leases/held-leases.ts";
import { type Logger, reasonOf } from "../process/log.ts";
import type { Metrics } from "../process/metrics.ts";

export interface AnsweredCall {
	readonly name: string;
	readonly port: "token" | "peer";
	/** By performance.now(). */
	readonly startedAt: number;
	readonly code: status;
}

export interface CallWatcher {
	answered(call: AnsweredCall): void;
	failed(call: string, error: unknown): void;
	acquired(cluster: Pick<Cluster, "release">, outcome: AcquireOutcome): void;
	renewed(acquisition: Acquisition): void;
	committed(acquisition: Acquisition, outcome: CommitOutcome, grants: number): void;
	/** The acquisition was given back. */
	ended(acquisition: Acquisition): void;
}

export interface CallWatcherOptions {
	readonly metrics: Metrics;
	readonly log: Logger;
	readonly held: HeldLeases;
}

export function createCallWatcher({ metrics, log, held }: CallWatcherOptions): CallWatcher {
	const ended = (acquisition: Acquisition): void => {
		const heldMs = held.ended(acquisition);
		if (heldMs !== undefined) metrics.heldSeconds.observe(heldMs / 1000);
	};
	return {
		answered({ name, port, startedAt, code }) {
			metrics.calls.observe({ method: name, port, code: status[code] }, (performance.now() - startedAt) / 1000);
		},
		failed(call, err) {
			// What is ours the caller is told, and acts on; only what is not concerns whoever runs the agent.
			if (reasonOf(err) === undefined) log.error({ err, call }, "A call failed by a bug");
			else log.debug({ err, call }, "A call was refused");
		},
		acquired(cluster, outcome) {
			metrics.acquires.inc({ outcome: outcome.kind });
			if (outcome.kind === "acquired") held.add(cluster, outcome.acquisition);
		},
		renewed: (acquisition) => held.renewed(acquisition),
		committed(acquisition, outcome, grants) {
			metrics.commits.inc({ outcome: outcome.kind });
			if (outcome.kind === "stood") metrics.grants.inc(grants);
			if (outcome.kind !== "full") ended(acquisition);
		},
		ended,
	};
}
