// The steps of a test run in their lanes. The lanes go on side by side. In each of them one step, or one group of steps that run at the same
// time, follows the other, whether or not the one before passed.
import { cpus } from "node:os";
import { runCommand } from "../run-command.ts";
import { oneFailed, type Tally } from "./tally.ts";

export interface Step {
	readonly name: string;
	/** Begins with the script that Node runs. A script that does not exist is a failure like any other. */
	readonly command: readonly [string, ...string[]];
	readonly environment?: Readonly<Record<string, string>>;
	/** From its exit code; left out where only its time counts. */
	readonly tally?: (exitCode: number) => Tally;
}

export interface Lane {
	/** A list in it is a group: its output is held back, too. */
	readonly steps: readonly (Step | readonly Step[])[];
	/** Its output is held back until a step ends, and its processes leave the processors to the other lane. */
	readonly isBackground: boolean;
}

export interface StepResult {
	readonly step: Step;
	/** Undefined where only its time counts. */
	readonly tally: Tally | undefined;
	readonly ms: number;
	readonly isInterrupted: boolean;
}

export interface RunOptions {
	/** Stops the running steps and starts no further ones. */
	readonly signal: AbortSignal;
	/** Whether to start no further steps; the terminal has told the running ones already. */
	readonly isInterrupted: () => boolean;
	readonly onEnd: (result: StepResult) => void;
}

export async function runLanes(lanes: readonly Lane[], options: RunOptions): Promise<readonly StepResult[]> {
	const results = await Promise.all(lanes.map((lane) => runLane(lane, options)));
	return results.flat();
}

async function runLane({ steps, isBackground }: Lane, options: RunOptions): Promise<readonly StepResult[]> {
	const results: StepResult[] = [];
	for (const next of steps) {
		const group = [next].flat();
		const isShown = !isBackground && group.length === 1;
		const ended = group.map(async (step) => {
			const result = options.isInterrupted()
				? { step, tally: oneFailed, ms: 0, isInterrupted: true }
				: await runStep(step, { isBackground, isShown, signal: options.signal });
			options.onEnd(result);
			return result;
		});
		results.push(...(await Promise.all(ended)));
	}
	return results;
}

interface RunStep {
	readonly isBackground: boolean;
	/** At once, and not at its end. */
	readonly isShown: boolean;
	readonly signal: AbortSignal;
}

async function runStep(step: Step, { isBackground, isShown, signal }: RunStep): Promise<StepResult> {
	if (isShown) console.log(`\n--- ${step.name}`);
	const { code, output, elapsedMs } = await runCommand([process.execPath, ...step.command], {
		show: isShown,
		isBackground,
		signal,
		...(step.environment && { environment: step.environment }),
	});
	if (!isShown) console.log(`\n--- ${step.name}\n${output.trimEnd()}`);
	return { step, tally: step.tally?.(code), ms: elapsedMs, isInterrupted: false };
}

/** Starts to measure which part of the time the processors have nothing to do. */
export function measureIdleness(): () => number {
	const read = () => {
		const times = cpus().map((each) => each.times);
		const sumOf = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
		return { idle: sumOf(times.map(({ idle }) => idle)), all: sumOf(times.flatMap((each) => Object.values(each))) };
	};
	const before = read();
	return () => {
		const now = read();
		return now.all === before.all ? 0 : (now.idle - before.idle) / (now.all - before.all);
	};
}
