// A thread that explores: the shipped code, or one mutant of it, which has to be loaded before all else.
import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Job, JobResult, WorkerOptions } from "./job.ts";
import { loadDriven } from "./load-driven.ts";

// Each mutant has a thread of its own, which would take the types out of the same files again.
enableCompileCache();
const { mutant, points } = workerData as WorkerOptions;
await loadDriven(mutant, points);
// Errors are answers here, by the thousand, and nobody looks at where they were made.
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
