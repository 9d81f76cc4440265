// A clock that stands still while a process has work to do but no processor. So a busy machine's delays are not counted as that process's.
import { readFileSync } from "node:fs";

/** Returns milliseconds, less those in which one of these processes had work to do and no processor. */
export function timeWithoutProcessorWaits(pids: readonly number[]): number {
	const waitedMs = pids.map((pid) => Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6);
	return waitedMs.reduce((left, waited) => left - waited, performance.now());
}
