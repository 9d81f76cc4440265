// Runs threads that try inputs. Ends a thread that hangs or takes too much memory, and reports its current input.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { FuzzJob, FuzzResult, FuzzWorkerData } from "./fuzz-job.ts";

export const threads = Math.min(2, availableParallelism());

/** Much longer than any input may take, even on a busy machine. */
const hungAfterMs = 90_000;
const program = new URL("./fuzz-worker.ts", import.meta.url);

export interface PoolOptions {
	readonly mutant: string | undefined;
	readonly threads: number;
	readonly onResult: (result: FuzzResult) => void;
	readonly onProgress?: (begun: number) => void;
	readonly isEnough: (result: FuzzResult) => boolean;
}

/** Runs the jobs, but no more jobs of a target that has failed. Ends early once `isEnough` returns true. */
export async function runFuzzJobs(jobs: readonly FuzzJob[], options: PoolOptions): Promise<void> {
	const queue = [...jobs];
	const counters: Int32Array[] = [];
	const failed = new Set<string>();
	let enough = false;
	const ticker = setInterval(() => {
		options.onProgress?.(counters.reduce((sum, counter) => sum + Atomics.load(counter, 1), 0));
	}, 200);
	const work = async (): Promise<void> => {
		let thread: FuzzThread | undefined;
		try {
			for (let job = queue.shift(); job && !enough; job = queue.shift()) {
				// One finding for each target is enough to work on.
				if (failed.has(job.target)) continue;
				if (!thread?.isAlive) {
					thread = new FuzzThread(options.mutant);
					counters.push(thread.counters);
				}
				const result = await thread.run(job);
				if (result.failure) failed.add(result.target);
				options.onResult(result);
				if (options.isEnough(result)) enough = true;
			}
		} finally {
			await thread?.end();
		}
	};
	try {
		await Promise.all(Array.from({ length: Math.min(options.threads, jobs.length) }, work));
	} finally {
		clearInterval(ticker);
	}
}

class FuzzThread {
	readonly counters = new Int32Array(new SharedArrayBuffer(8));
	readonly #worker: Worker;
	isAlive = true;

	constructor(mutant: string | undefined) {
		const workerData: FuzzWorkerData = { mutant, progress: this.counters.buffer };
		// The memory limit exposes readers that keep their input.
		this.#worker = new Worker(program, { workerData, resourceLimits: { maxOldGenerationSizeMb: 700 } });
		this.#worker.setMaxListeners(0);
	}

	run(job: FuzzJob): Promise<FuzzResult> {
		return new Promise((resolve, reject) => {
			let seen = -1;
			let seenAt = performance.now();
			const settle = (finish: () => void): void => {
				clearInterval(watchdog);
				this.#worker.off("message", onMessage);
				this.#worker.off("error", onError);
				finish();
			};
			const fail = (message: string): void => {
				this.isAlive = false;
				const at = Math.max(0, Atomics.load(this.counters, 0) - 1);
				const failure = { replay: `${job.part}/${at}`, message, input: "(not shrunk)" };
				void this.#worker.terminate();
				settle(() => resolve({ target: job.target, inputs: at, cpuMs: 0, failure }));
			};
			const watchdog = setInterval(() => {
				const begun = Atomics.load(this.counters, 0);
				if (begun !== seen) {
					seen = begun;
					seenAt = performance.now();
				} else if (performance.now() - seenAt > hungAfterMs) fail("It hangs");
			}, 1_000);
			const onMessage = (answer: FuzzResult | { readonly problem: string }): void =>
				settle(() => ("problem" in answer ? reject(new Error(`${job.target}: ${answer.problem}`)) : resolve(answer)));
			const onError = (error: Error): void => fail(`It ended the thread: ${error.message}`);
			this.#worker.on("message", onMessage);
			this.#worker.on("error", onError);
			this.#worker.postMessage(job);
		});
	}

	async end(): Promise<void> {
		this.isAlive = false;
		await this.#worker.terminate();
	}
}
