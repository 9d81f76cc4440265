// What a thread is asked to try, and what it found.
export interface FuzzJob {
	readonly target: string;
	/** Of the whole run. */
	readonly seed: number;
	/** Which part of the target's inputs. */
	readonly part: number;
	readonly inputs: number;
	/** fast-check's path to one input of the part, in the place of all of them. */
	readonly path?: string;
}

export interface FuzzFailure {
	/** What `--replay` takes. */
	readonly replay: string;
	readonly message: string;
	/** The input, shrunk, for people. */
	readonly input: string;
}

export interface FuzzResult {
	readonly target: string;
	readonly inputs: number;
	/** Of the thread's processor. */
	readonly cpuMs: number;
	readonly failure?: FuzzFailure;
}

export interface FuzzWorkerData {
	/** Name of the mutant to load; the shipped code where undefined. */
	readonly mutant: string | undefined;
	/** Two counters: inputs begun in this job, and in all. */
	readonly progress: SharedArrayBuffer;
}
