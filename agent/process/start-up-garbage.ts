// Start-up leaves garbage behind: code and data that were used once, and that an agent with little to do would not collect for hours.
import type { Clock } from "./clock.ts";

/** Long enough for the first lists and handshakes to be over. */
const settleMs = 2_000;

/**
 * Collects it once, soon after the first lists are done; measured, this frees 3 MB of an idle agent. Node must be started with --expose-gc
 * for it (agent/deploy/deployment.yaml); otherwise nothing happens. Returns a function that cancels it.
 */
export function collectStartUpGarbage(clock: Clock, isStarted: () => boolean): () => void {
	let cancel = (): void => undefined;
	const collect = (): void => {
		if (isStarted()) globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
		else cancel = clock.after(settleMs, collect);
	};
	cancel = clock.after(settleMs, collect);
	return () => cancel();
}
