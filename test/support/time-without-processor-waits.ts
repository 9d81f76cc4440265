// A clock that stands still while a process has work but no processor, so that a busy machine adds no delay.
import { readFileSync } from "node:fs";

export function timeWithoutProcessorWaits(pids: readonly number[]): number {
	const waitedMs = pids.map((pid) => Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6);
	return waitedMs.reduce((left, waited) => left - waited, performance.now());
}
