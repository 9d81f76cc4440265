// A target: one reader of foreign bytes, and what must hold for every input.
import type fc from "fast-check";

export interface FuzzTarget {
	readonly name: string;
	/** The foreign bytes, and their reader. */
	readonly reads: string;
	/** Its share of all inputs, relative to the other targets. Low if an input takes milliseconds. */
	readonly share: number;
	open(): OpenTarget | Promise<OpenTarget>;
}

export interface OpenTarget {
	readonly input: fc.Arbitrary<unknown>;
	/** Throws or rejects if a demand is not met. */
	readonly check: (input: never) => void | Promise<void>;
	/** Whether `check` is awaited, and then a turn of the event loop, in which unhandled rejections appear. */
	readonly isAsync: boolean;
	readonly close?: () => void | Promise<void>;
}

/** Names the demand that was not met. */
export class Finding extends Error {
	override readonly name = "Finding";
}

export function demand(condition: boolean, what: string): asserts condition {
	if (!condition) throw new Finding(what);
}

export function syncTarget<T>(input: fc.Arbitrary<T>, check: (input: T) => void): OpenTarget {
	return { input, check, isAsync: false };
}

export function asyncTarget<T>(
	input: fc.Arbitrary<T>,
	check: (input: T) => Promise<void>,
	close?: () => void | Promise<void>,
): OpenTarget {
	return { input, check, isAsync: true, ...(close && { close }) };
}
