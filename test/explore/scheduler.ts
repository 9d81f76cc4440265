// The deterministic scheduler: one step at a time, each one chosen, and after each one everything that it set off runs
// until it waits for another step. A sequence of choices determines a run completely.
import { seededRandom } from "./random.ts";

export type StepKind =
	/** A request reaches its server, an answer its caller. */
	| "message"
	/** A request that its caller gave up is executed after all. */
	| "late"
	| "fault"
	| "timer"
	/** A clock moves on while nothing happens. */
	| "jump"
	/** A view is shown an event. */
	| "watch"
	/** Pods end, are replaced and become ready. */
	| "kubelet"
	/** An agent does something of its own accord: evidence, cancels, sweeps. */
	| "agent"
	/** What the scenario lets happen besides. */
	| "event";

export interface Step {
	readonly kind: StepKind;
	/** Whose step it is; steps of one actor are fast or slow together. */
	readonly actor: string;
	readonly what: string;
	run(): void;
}

/** Where the choices of a run come from. */
export interface Choices {
	/** The index of one of these weights. */
	pick(weights: readonly number[]): number;
	/** Everything picked so far: enough to run the same again. */
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

/** Where `rest` falls when the weights lie side by side; beyond the last, which rounding may do, at the last that weighs anything. */
function weightedIndex(weights: readonly number[], rest: number): number {
	let left = rest;
	for (let index = 0; index < weights.length; index += 1) if ((left -= weights[index] ?? 0) < 0) return index;
	return Math.max(
		weights.findLastIndex((weight) => weight > 0),
		0,
	);
}

/** The choices of an earlier run, then always the first. `widths` collects how many there were to choose from. */
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

/** Resolves when no promise of the code under test can go on without another step. */
export async function drained(): Promise<void> {
	waits += 1;
	// A tick that is asked for outside of a microtask, as by a thread's first schedule, comes before all microtasks.
	await Promise.resolve();
	// Both come only after all microtasks, those that microtasks queue included. A tick costs a fraction of a turn of the event loop,
	// but only at the end of a turn Node tells of rejections that nobody handles.
	await new Promise<void>((resolve) => (waits % 64 === 0 ? setImmediate(resolve) : process.nextTick(resolve)));
}
