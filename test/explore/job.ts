// What a thread is asked to explore, and what it found.
import type { Violation } from "./oracle.ts";

export interface WorkerOptions {
	/** Name of the mutant to load; the shipped code where undefined. */
	readonly mutant: string | undefined;
}

export type Job =
	| {
			readonly kind: "random";
			readonly scenario: string;
			readonly seed: number;
			/** Numbers of the schedules. */
			readonly from: number;
			readonly count: number;
	  }
	| { readonly kind: "search"; readonly scenario: string; readonly mostStates: number; readonly mostSteps: number };

export interface JobFailure {
	/** What `--replay` takes: a seed, or the choices joined by dots. */
	readonly replay: string;
	readonly violation: Violation;
	/** Which schedule of the scenario it was. */
	readonly schedule: number;
}

export interface JobResult {
	readonly kind: Job["kind"];
	readonly scenario: string;
	readonly schedules: number;
	readonly steps: number;
	readonly evictions: number;
	/** That were ever there, of all schedules together. */
	readonly pods: number;
	/** Of a search. */
	readonly states: number;
	readonly isComplete: boolean;
	readonly failure?: JobFailure;
}
