// Tries inputs in a thread, on the shipped code or on one mutant, which must be loaded before everything else.
import { parentPort, workerData } from "node:worker_threads";
import { loadMutant } from "../explore/mutant.ts";
import type { FuzzJob, FuzzResult, FuzzWorkerData } from "./fuzz-job.ts";
import { findFuzzMutant } from "./fuzz-mutants.ts";

const { mutant, progress } = workerData as FuzzWorkerData;
if (mutant !== undefined) loadMutant(findFuzzMutant(mutant));
const { catchStrays, runInputs } = await import("./run-inputs.ts");
const counters = new Int32Array(progress);
catchStrays();

parentPort?.on("message", (job: FuzzJob) => {
	Atomics.store(counters, 0, 0);
	runInputs(job, counters).then(
		(result: FuzzResult) => parentPort?.postMessage(result),
		(error: unknown) => {
			// Posted, because a thrown error would count as a stray error of an input.
			parentPort?.postMessage({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) });
		},
	);
});
