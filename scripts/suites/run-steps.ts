// Runs the steps of a test run in lanes, side by side. A lane runs its steps one after the other, even if a step fails.
import { cpus } from "node:os";
import { runCommand } from "../run-command.ts";
import { oneFailed, type Tally } from "./tally.ts";

export interface Step {
	readonly name: string;
	/** Begins with the script that Node runs. */
	readonly command: readonly [string, ...string[]];
	readonly environment?: Readonly<Record<string, string>>;
	/** Makes a tally from its exit code. */
	readonly tally: (exitCode: number) => Tally;
}

export interface Lane {
	/** A list inside is a group of steps that run at the same time. Their output is shown when they end. */
	readonly steps: readonly (Step | readonly Step[])[];
	/** Its processes run at low priority, and the output of each step is shown when the step ends. */
	readonly isBackground: boolean;
}

export interface StepResult {
	readonly step: Step;
	readonly tally: Tally;
	readonly ms: number;
	readonly isInterrupted: boolean;
}

export interface RunOptions {
	/** Stops the running steps. */
	readonly signal: AbortSignal;
	/** Stops the running steps of lanes in the background. */
	readonly backgroundSignal: AbortSignal;
	/** Whether to start no further steps. Ctrl-C also reaches the running steps by itself, except those in the background. */
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
				: await runStep(step, {
						isBackground,
						isShown,
						signal: isBackground ? options.backgroundSignal : options.signal,
					});
			options.onEnd(result);
			return result;
		});
		results.push(...(await Promise.all(ended)));
	}
	return results;
}

interface RunStep {
	readonly isBackground: boolean;
	/** Whether its output is shown at once. Otherwise it is shown at the end. */
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
	return { step, tally: step.tally(code), ms: elapsedMs, isInterrupted: false };
}

/** The returned function gives the idle share of processor time since this call, from 0 to 1. */
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
