// Defines the jobs of threads, and their results.
import type { Sources } from "./load-sources.ts";
import type { Violation } from "./oracle.ts";
import { type StrategyName, strategyNames } from "./strategy-name.ts";

export interface WorkerOptions {
	/** The result of `drivenSources()`. */
	readonly sources: Sources;
}

export type Job =
	| {
			readonly kind: "random";
			readonly scenario: string;
			readonly seed: number;
			/** Number of the first schedule. */
			readonly from: number;
			readonly count: number;
			/** If true, every schedule is settled (settling.ts). Otherwise one in four is. */
			readonly settles: boolean;
	  }
	| { readonly kind: "search"; readonly scenario: string; readonly mostStates: number; readonly mostSteps: number };

export interface JobFailure {
	/** The argument for `--replay`: a seed, or the choices joined by dots. */
	readonly replay: string;
	readonly violation: Violation;
	/** The number of the failed schedule in its scenario, from 1. */
	readonly schedule: number;
}

export interface JobResult {
	readonly kind: Job["kind"];
	readonly scenario: string;
	readonly schedules: number;
	readonly steps: number;
	readonly evictions: number;
	/** Pods that ever existed, over all schedules. */
	readonly pods: number;
	/** States that a search entered. */
	readonly states: number;
	readonly isComplete: boolean;
	readonly cpuMs: number;
	/** Hashes of the abstract states that exactly one schedule of the job met. `several` has the states that more than one met. */
	readonly once: Uint32Array;
	readonly several: Uint32Array;
	readonly strategies: StrategyCounts;
	readonly failure?: JobFailure;
}

export type StrategyCounts = Readonly<Partial<Record<StrategyName, number>>>;

export function addCounts(to: StrategyCounts, more: StrategyCounts): StrategyCounts {
	const sums: Partial<Record<StrategyName, number>> = { ...to };
	for (const name of strategyNames) if (more[name] !== undefined) sums[name] = (sums[name] ?? 0) + more[name];
	return sums;
}
