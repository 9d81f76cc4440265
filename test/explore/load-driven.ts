// Prepares a thread that runs driven code: calls of awaitPoint(), simulated time and changed sources.
import { awaitPoint } from "./await-points.ts";
import { loadSources, type Sources } from "./load-sources.ts";
import { simulateTime } from "./simulated-time.ts";

/** Call it before any driven code is loaded. `sources` is the result of `drivenSources()`. */
export function loadDriven(sources: Sources): void {
	globalThis.awaitPoint = awaitPoint;
	simulateTime();
	loadSources(sources);
}
