// What a thread is asked to explore, and what it found.
import type { AwaitPoints } from "./await-points.ts";
import type { Violation } from "./oracle.ts";
import { type StrategyName, strategyNames } from "./strategy-name.ts";

export interface WorkerOptions {
	/** Where its code can stop. */
	readonly points: AwaitPoints;
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
			/** Every schedule goes on to the end, where all is given back; else one in four does. */
			readonly settles: boolean;
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
	/** Processor time of the thread. */
	readonly cpuMs: number;
	/** Hashes of the abstract states that one of its schedules met, and of those that several did. */
	readonly once: Uint32Array;
	readonly several: Uint32Array;
	readonly strategies: StrategyCounts;
	readonly failure?: JobFailure;
}

/** Schedules by strategy. */
export type StrategyCounts = Readonly<Partial<Record<StrategyName, number>>>;

export function addCounts(to: StrategyCounts, more: StrategyCounts): StrategyCounts {
	const sums: Partial<Record<StrategyName, number>> = { ...to };
	for (const name of strategyNames) if (more[name] !== undefined) sums[name] = (sums[name] ?? 0) + more[name];
	return sums;
}
