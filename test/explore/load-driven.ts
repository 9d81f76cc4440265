// Prepares a thread for the driven code, before any of that code is loaded.
import { awaitPoint } from "./await-points.ts";
import { loadSources, type Sources } from "./load-sources.ts";
import { simulateTime } from "./simulated-time.ts";

/** Call it before any driven code is loaded. `sources` is the result of `drivenSources()`. */
export function loadDriven(sources: Sources): void {
	globalThis.awaitPoint = awaitPoint;
	simulateTime();
	loadSources(sources);
}
