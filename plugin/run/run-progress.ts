// Shows that a run is alive, and what continues after a first Ctrl-C.
import { sumWaits } from "../evictions/waiting-event.ts";
import type { EvictionSession } from "./eviction-session.ts";
import type { RunRecord } from "./run-record.ts";

/** A line from time to time shows a waiting user, or a log, that the run is alive. */
const progressEveryMs = 15_000;

/** Reports the run's progress until the returned function is called. */
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

/** At the first interruption, reports what continues and for how long. */
export function tellInterruption(stop: AbortSignal, { evictions, emit }: EvictionSession): void {
	const tell = (): void => {
		const { terminating, graceSeconds } = evictions.counts;
		emit({ type: "interrupted", accepted: terminating, graceSeconds });
	};
	stop.addEventListener("abort", tell, { once: true });
}
