// Counts and logs problems that no caller receives. A problem that repeats is counted each time, but not logged each time.
import { type Logger, reasonOf } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** How long a problem is not logged again. An unreachable API server causes several failures a second. */
const quietForMs = 10_000;
const maxRemembered = 100;

/** The returned function accepts any thrown value. */
export function createProblemLog(metrics: Metrics, log: Logger, now: () => number): (problem: unknown) => void {
	const loggedAt = new Map<string, number>();
	return (problem) => {
		const reason = reasonOf(problem);
		metrics.problems.inc({ reason: reason ?? "Bug" });
		const text = problem instanceof Error ? problem.message : String(problem);
		const last = loggedAt.get(text);
		if (last !== undefined && now() - last < quietForMs) return;
		if (loggedAt.size >= maxRemembered) loggedAt.clear();
		loggedAt.set(text, now());
		if (reason === undefined) log.error({ err: problem }, "A bug beside an answer");
		else log.warn({ err: problem }, "A problem beside an answer");
	};
}
