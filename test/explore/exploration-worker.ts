// A thread that explores the shipped code, or one mutant of it. The mutant has to be loaded before everything else.
import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Job, JobResult, WorkerOptions } from "./job.ts";
import { loadDriven } from "./load-driven.ts";

// Each mutant has its own thread. Without the cache, each thread would strip the types from the same files again.
enableCompileCache();
const { sources } = workerData as WorkerOptions;
loadDriven(sources);
// Errors are ordinary answers here, thousands in each run, and their stack traces would take time. `--replay` shows the trace of a bug.
Error.stackTraceLimit = 0;
const { runJob } = await import("./job-runner.ts");

parentPort?.on("message", (job: Job) => {
	runJob(job).then(
		(result: JobResult) => parentPort?.postMessage(result),
		(error: unknown) => {
			throw error;
		},
	);
});
