// What a thread is asked to try, and what it found.
export interface FuzzJob {
	readonly target: string;
	readonly seed: number;
	/** The number of this part of the target's inputs. */
	readonly part: number;
	readonly inputs: number;
	/** fast-check's path to one input of the part. Only that input is then tried. */
	readonly path?: string;
}

export interface FuzzFailure {
	/** The value for `--replay`. */
	readonly replay: string;
	readonly message: string;
	readonly input: string;
}

export interface FuzzResult {
	readonly target: string;
	readonly inputs: number;
	readonly cpuMs: number;
	readonly failure?: FuzzFailure;
}

export interface FuzzWorkerData {
	/** The name of the mutant to load. Undefined for the shipped code. */
	readonly mutant: string | undefined;
	/** Two counters of started inputs: in the current job, and in all jobs of this thread. */
	readonly progress: SharedArrayBuffer;
}
