// What starting left behind: compiled once, parsed once, and not collected for hours by an agent that has little to do.
import type { Clock } from "./clock.ts";

/** Long enough for the first lists and handshakes to be over. */
const settleMs = 2_000;

/**
 * Collects it once, soon after the first lists are done; measured, 3 MB of an idle agent. Node has to be started with
 * --expose-gc for it (agent/deploy/deployment.yaml); without, nothing happens. Returns the function that ends the wait.
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
