// Runs jobs in threads, each with the shipped code or one mutant of it.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { drivenSources } from "./driven-sources.ts";
import type { Job, JobResult, WorkerOptions } from "./job.ts";

export const threads = availableParallelism();

const program = new URL("./exploration-worker.ts", import.meta.url);

/**
 * A thread is replaced after this many schedules. Node keeps each signal of AbortSignal.any() that has a listener, and with it the world of
 * its schedule: 0.1 MB a schedule.
 */
const schedulesPerThread = 10_000;

/** Runs the jobs, `threads` at a time. Starts no more of them once `isEnough` accepts a result. */
export async function runJobs(
	jobs: readonly Job[] | (() => Job | undefined),
	options: {
		/** Name of the mutant to run. Undefined for the shipped code. */
		readonly mutant: string | undefined;
		readonly threads: number;
		readonly onResult: (result: JobResult) => void;
		readonly isEnough: (result: JobResult) => boolean;
	},
): Promise<void> {
	const sources = drivenSources(options.mutant);
	const queue = typeof jobs === "function" ? undefined : [...jobs];
	const next = typeof jobs === "function" ? jobs : () => queue?.shift();
	let enough = false;
	const work = async (): Promise<void> => {
		let worker: Worker | undefined;
		let schedules = 0;
		try {
			for (let job = next(); job; job = enough ? undefined : next()) {
				worker ??= new Worker(program, { workerData: { sources } satisfies WorkerOptions });
				const result = await ask(worker, job);
				options.onResult(result);
				if (options.isEnough(result)) enough = true;
				schedules += result.schedules;
				if (schedules < schedulesPerThread) continue;
				await worker.terminate();
				worker = undefined;
				schedules = 0;
			}
		} finally {
			await worker?.terminate();
		}
	};
	await Promise.all(Array.from({ length: Math.min(options.threads, queue?.length ?? options.threads) }, work));
}

function ask(worker: Worker, job: Job): Promise<JobResult> {
	return new Promise((resolve, reject) => {
		const settle = (finish: () => void) => {
			worker.off("message", onMessage);
			worker.off("error", onError);
			finish();
		};
		const onMessage = (result: JobResult) => settle(() => resolve(result));
		const onError = (error: unknown) => settle(() => reject(error));
		worker.on("message", onMessage);
		worker.on("error", onError);
		worker.postMessage(job);
	});
}
