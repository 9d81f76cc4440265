// Start-up leaves garbage behind: code and data that were used once, and that an agent with little to do would not collect for hours.
import type { PeriodicJob } from "./periodic-work.ts";

/** Long enough for the first lists and handshakes to be over. */
const settleMs = 2_000;

/**
 * Collects it once, soon after the first lists are done; measured, this frees 3 MB of an idle agent. Node must be started with --expose-gc
 * for it (agent/deploy/deployment.yaml); otherwise nothing happens.
 */
export function startUpGarbage(isStarted: () => boolean): PeriodicJob {
	return {
		pauseMs: () => settleMs,
		pass() {
			if (!isStarted()) return undefined;
			globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
			return "done";
		},
	};
}
