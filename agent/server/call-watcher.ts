// Measures and logs the agent's calls.
import { status } from "@grpc/grpc-js";
import type { AcquireOutcome, CommitOutcome } from "../../disruption/budget/cluster.ts";
import { type Logger, reasonOf } from "../process/log.ts";
import type { Metrics } from "../process/metrics.ts";

interface AnsweredCall {
	readonly name: string;
	readonly port: "token" | "peer";
	/** By performance.now(). */
	readonly startedAt: number;
	readonly code: status;
}

export interface CallWatcher {
	answered(call: AnsweredCall): void;
	failed(call: string, error: unknown): void;
	acquired(outcome: AcquireOutcome): void;
	committed(outcome: CommitOutcome, grants: number): void;
}

interface CallWatcherOptions {
	readonly metrics: Metrics;
	readonly log: Logger;
}

export function createCallWatcher({ metrics, log }: CallWatcherOptions): CallWatcher {
	return {
		answered({ name, port, startedAt, code }) {
			metrics.calls.observe({ method: name, port, code: status[code] }, (performance.now() - startedAt) / 1000);
		},
		failed(call, err) {
			// Callers receive domain errors and act on them; only other errors concern the agent's operator.
			if (reasonOf(err) === undefined) log.error({ err, call }, "A call failed by a bug");
			else log.debug({ err, call }, "A call was refused");
		},
		acquired({ kind }) {
			metrics.acquires.inc({ outcome: kind });
		},
		committed({ kind }, grants) {
			metrics.commits.inc({ outcome: kind });
			if (kind === "stood") metrics.grants.inc(grants);
		},
	};
}
