// Defines steps and choices, of which the schedule of a run consists. A run takes one chosen step at a time. Then everything that the step
// caused runs until it waits for another step. The scenario, its options and the sequence of choices determine a run completely.
import { seededRandom } from "./random.ts";

export type StepKind =
	/** A request reaches its server, an answer reaches its caller, or an agent learns that its caller does not wait. */
	| "message"
	/** A request is executed for which no caller waits: it was given up, its caller died, or it is a double. */
	| "late"
	| "fault"
	| "timer"
	/** A clock moves on while its process does nothing, or a stopped process is resumed. */
	| "jump"
	/** A watch opens, shows an event, or comes back. */
	| "watch"
	/** Pods end, are replaced and become ready. */
	| "kubelet"
	/** An agent acts by itself: it cancels, sweeps, cleans up or looks for evidence. */
	| "agent"
	/** An event of the scenario, a change of a pod, or a plugin that is told to stop. */
	| "event";

export interface Step {
	readonly kind: StepKind;
	/** The process, cluster or person that acts. */
	readonly actor: string;
	readonly what: string;
	run(): void;
}

/** Makes and records the choices of a run. */
export interface Choices {
	/** Returns the index of one of these weights. */
	pick(weights: readonly number[]): number;
	/** Everything picked so far, which is enough to repeat the run. */
	readonly taken: readonly number[];
}

export function randomChoices(seed: number): Choices & { readonly random: () => number } {
	const random = seededRandom(seed);
	const taken: number[] = [];
	return {
		random,
		taken,
		pick(weights) {
			let sum = 0;
			for (const weight of weights) sum += weight;
			const picked = weightedIndex(weights, random() * sum);
			taken.push(picked);
			return picked;
		},
	};
}

/**
 * Returns the index at which `rest` falls when the weights lie side by side. If rounding puts `rest` beyond the end, returns the index of
 * the last weight above 0.
 */
function weightedIndex(weights: readonly number[], rest: number): number {
	let left = rest;
	for (let index = 0; index < weights.length; index += 1) if ((left -= weights[index] ?? 0) < 0) return index;
	return Math.max(
		weights.findLastIndex((weight) => weight > 0),
		0,
	);
}

/** Returns the choices of an earlier run, and after them always the first. `widths` collects how many steps there were to choose from. */
export function replayedChoices(prefix: readonly number[]): Choices & { readonly widths: readonly number[] } {
	const taken: number[] = [];
	const widths: number[] = [];
	return {
		taken,
		widths,
		pick(weights) {
			const picked = Math.min(prefix[taken.length] ?? 0, weights.length - 1);
			taken.push(picked);
			widths.push(weights.length);
			return picked;
		},
	};
}

let waits = 0;

/** Resolves when no promise of the code under test can continue without another step. */
export async function drained(): Promise<void> {
	waits += 1;
	// Outside of a microtask, as in a thread's first schedule, a tick would come before all microtasks.
	await Promise.resolve();
	// Both callbacks come after all microtasks, including those that microtasks queue. A tick is much cheaper than a turn of the event
	// loop, but other work of the thread needs a turn now and then.
	await new Promise<void>((resolve) => (waits % 64 === 0 ? setImmediate(resolve) : process.nextTick(resolve)));
}
