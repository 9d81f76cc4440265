// Reports a run's progress, and what continues after a first interruption.
import { sumWaits } from "../evictions/waiting-event.ts";
import type { EvictionSession } from "./eviction-session.ts";
import type { RunRecord } from "./run-record.ts";

/** Often enough to show in a log that the run is alive. */
const progressEveryMs = 15_000;

/** Call the returned function to stop. */
export function tellProgress(
	session: Pick<EvictionSession, "emit" | "nodesDone">,
	{ tally }: Pick<RunRecord, "tally">,
	nodesTotal: number,
): () => void {
	const tell = (): void => {
		const { total, done, waiting, terminating, failed } = tally.counts;
		session.emit({
			type: "progress",
			podsDone: done + failed,
			podsTotal: total,
			failed,
			nodesDone: session.nodesDone,
			nodesTotal,
			waiting,
			terminating,
			waits: sumWaits(tally.waits),
		});
	};
	const timer = setInterval(tell, progressEveryMs);
	return () => clearInterval(timer);
}

export function tellInterruption(stop: AbortSignal, { evictions, emit }: EvictionSession): void {
	const tell = (): void => {
		const { terminating, graceSeconds } = evictions.counts;
		emit({ type: "interrupted", accepted: terminating, graceSeconds });
	};
	stop.addEventListener("abort", tell, { once: true });
}
