// One reader of foreign bytes, and what must hold of it for every input.
import type fc from "fast-check";

export interface FuzzTarget {
	readonly name: string;
	/** The foreign bytes, and who reads them. */
	readonly reads: string;
	/** Its part of all inputs, beside the others': less where an input costs milliseconds. */
	readonly share: number;
	open(): OpenTarget | Promise<OpenTarget>;
}

export interface OpenTarget {
	readonly input: fc.Arbitrary<unknown>;
	/** Throws, or rejects, where something does not hold. */
	readonly check: (input: never) => void | Promise<void>;
	/** Waits: then a promise that is left alone and fails is found too. */
	readonly isAsync: boolean;
	readonly close?: () => void | Promise<void>;
}

/** What does not hold. */
export class Finding extends Error {
	override readonly name = "Finding";
}

export function demand(condition: boolean, what: string): asserts condition {
	if (!condition) throw new Finding(what);
}

/** A target that answers at once. */
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
