// A thread that explores the shipped code or one mutant of it. It loads the changed sources before any driven code.
import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Job, JobResult, WorkerOptions } from "./job.ts";
import { loadDriven } from "./load-driven.ts";

// Without the cache, each thread would strip the types from the same files again.
enableCompileCache();
const { sources } = workerData as WorkerOptions;
loadDriven(sources);
// Thousands of errors are ordinary answers here, and their stack traces would take time. `--replay` shows the trace of a bug.
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
