// Tries one part of a target's inputs in this thread, up to the first failure, which is then shrunk.
import { inspect } from "node:util";
import fc from "fast-check";
import { scheduleSeed } from "../explore/random.ts";
import type { FuzzJob, FuzzResult } from "./fuzz-job.ts";
import { Finding, type OpenTarget } from "./fuzz-target.ts";
import { findTarget } from "./targets.ts";

/** The limit for an input, in processor time, because a busy machine is slow. */
const longestCpuMs = 1_500;
/** The limit for answers that never come. */
const longestWaitMs = 20_000;

const open = new Map<string, OpenTarget>();

export async function runInputs(job: FuzzJob, progress: Int32Array): Promise<FuzzResult> {
	const target = open.get(job.target) ?? (await findTarget(job.target).open());
	open.set(job.target, target);
	const cpuBefore = cpuMs();
	let inputs = 0;
	const begin = (): number => {
		inputs += 1;
		Atomics.add(progress, 0, 1);
		Atomics.add(progress, 1, 1);
		return cpuMs();
	};
	const check = target.check as (input: unknown) => void | Promise<void>;
	const parameters = {
		seed: scheduleSeed(job.seed, job.target, job.part),
		numRuns: job.inputs,
		...(job.path !== undefined && { path: job.path, endOnFailure: true }),
	};
	const details = target.isAsync
		? await fc.check(
				fc.asyncProperty(target.input, async (input) => {
					const startedAt = begin();
					stray = undefined;
					await withinTime(Promise.resolve(check(input)));
					// Unhandled rejections appear before the next turn.
					await new Promise(setImmediate);
					if (stray !== undefined) throw new Finding(`Nobody waited for what failed: ${inspect(stray)}`);
					demandSoon(startedAt);
				}),
				parameters,
			)
		: fc.check(
				fc.property(target.input, (input) => {
					const startedAt = begin();
					const answer: unknown = check(input);
					if (answer instanceof Promise) throw new Error(`target ${job.target} waits, and does not say so`);
					demandSoon(startedAt);
				}),
				parameters,
			);
	const result = { target: job.target, inputs, cpuMs: cpuMs() - cpuBefore };
	if (!details.failed) return result;
	const { errorInstance: error, counterexample, counterexamplePath } = details;
	return {
		...result,
		failure: {
			replay: `${job.part}/${counterexamplePath ?? job.path ?? "0"}`,
			message: error instanceof Finding ? error.message : inspect(error),
			input: shown(counterexample?.[0]),
		},
	};
}

export async function closeTargets(): Promise<void> {
	for (const target of open.values()) await target.close?.();
	open.clear();
}

let stray: unknown;

/** Attributes unhandled errors of promises and events to the current input. */
export function catchStrays(): void {
	const keep = (error: unknown): void => {
		stray ??= error ?? "nothing";
	};
	process.on("unhandledRejection", keep);
	process.on("uncaughtException", keep);
}

async function withinTime(work: Promise<void>): Promise<void> {
	const { promise, reject } = Promise.withResolvers<never>();
	const timer = setTimeout(
		() => reject(new Finding(`It gave no answer within ${longestWaitMs / 1_000} s`)),
		longestWaitMs,
	);
	try {
		await Promise.race([work, promise]);
	} finally {
		clearTimeout(timer);
	}
}

function demandSoon(startedAt: number): void {
	const took = cpuMs() - startedAt;
	if (took > longestCpuMs) throw new Finding(`It took ${Math.round(took)} ms of the processor`);
}

function cpuMs(): number {
	const { user, system } = process.threadCpuUsage();
	return (user + system) / 1_000;
}

export function shown(input: unknown): string {
	const text = inspect(input, { depth: 12, maxStringLength: 300, maxArrayLength: 60, breakLength: 120 });
	return text.length > 6_000 ? `${text.slice(0, 6_000)}…` : text;
}
