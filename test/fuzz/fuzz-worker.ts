// A thread that tries inputs on the shipped code, or on one mutant of it, which has to be loaded before all else.
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
			// Not thrown: nothing here is stray.
			parentPort?.postMessage({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) });
		},
	);
});
