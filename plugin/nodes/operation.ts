// A drain as its nodes remember it: an annotation that comes with the cordon, so that anybody who may drain can see it, go
// on with it or take its cordons back, from any machine. Nothing secret is in it, and its size is bounded. It is written by
// whoever may patch the node, its kubelet among them: what could do harm is never read from it, but typed again.
import { randomBytes } from "node:crypto";
import { isRecord } from "../../disruption/record.ts";

export const operationAnnotation = "xpdb.form3.tech/operation";

/** With a holder; 1 has none. A later one is not understood, and not touched by undo and resume. */
const version = 2;
const maxTextLength = 1_024;

export type FlagValue = string | number | boolean;

export interface Operation {
	readonly id: string;
	/** The run that drains it, 16 random hex digits: a resumed operation has its id and another holder. None from version 0.1. */
	readonly holder?: string;
	/** A drained node keeps the annotation until it is uncordoned, so that undo finds it. */
	readonly state: "draining" | "drained";
	/** Who began it or went on with it last. */
	readonly by: string;
	/** ISO 8601. */
	readonly since: string;
	/** How many it has, in all clusters. */
	readonly nodes: number;
	/** The hash of the fleet under whose budgets it runs; "" where there is none. */
	readonly fleet: string;
	/** Flags that going on needs, by name; durations in milliseconds. */
	readonly flags: Readonly<Record<string, FlagValue>>;
	/** Names of flags that it had and that have to be typed again. */
	readonly typedAgain: readonly string[];
	/** Somebody else had cordoned this node: undo leaves it so. */
	readonly cordonedBefore: boolean;
}

export type OperationReading =
	| { readonly kind: "operation"; readonly operation: Operation }
	| { readonly kind: "later"; readonly version: number }
	| { readonly kind: "garbled" };

/** 24 bits: among the few unfinished runs of a fleet no two will be the same. */
export function newOperationId(): string {
	return randomBytes(3).toString("hex");
}

/** 64 bits: no run has that of another one. */
export function newHolder(): string {
	return randomBytes(8).toString("hex");
}

export function isOperationId(text: string): boolean {
	return /^[0-9a-f]{6}$/.test(text);
}

export function formatOperation(operation: Operation): string {
	return JSON.stringify({
		version: operation.holder === undefined ? 1 : version,
		...operation,
		by: operation.by.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, maxTextLength),
	});
}

export function parseOperation(text: string): OperationReading {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (error) {
		if (error instanceof SyntaxError) return { kind: "garbled" };
		throw error;
	}
	if (!isRecord(value)) return { kind: "garbled" };
	const { version: found, id, holder, state, by, since, nodes, fleet, flags, typedAgain, cordonedBefore } = value;
	if (typeof found === "number" && found > version) return { kind: "later", version: found };
	const isWhole =
		(found === 1 ? holder === undefined : found === version && isHolder(holder)) &&
		isText(id) &&
		isOperationId(id) &&
		isState(state) &&
		isText(by) &&
		isText(since) &&
		Number.isFinite(Date.parse(since)) &&
		typeof nodes === "number" &&
		isText(fleet) &&
		isRecord(flags) &&
		isTextList(typedAgain) &&
		typeof cordonedBefore === "boolean";
	if (!isWhole) return { kind: "garbled" };
	const known = Object.entries(flags).filter((entry): entry is [string, FlagValue] => isFlagValue(entry[1]));
	const operation = {
		id,
		...(isHolder(holder) && { holder }),
		state,
		by,
		since,
		nodes,
		fleet,
		flags: Object.fromEntries(known),
		typedAgain,
		cordonedBefore,
	};
	return { kind: "operation", operation };
}

/** Long texts are typed again rather than kept. */
export function isFlagValue(value: unknown): value is FlagValue {
	if (typeof value === "string") return value.length <= maxTextLength;
	return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}

function isHolder(value: unknown): value is string {
	return typeof value === "string" && /^[0-9a-f]{16}$/.test(value);
}

function isState(value: unknown): value is Operation["state"] {
	return value === "draining" || value === "drained";
}

function isText(value: unknown): value is string {
	// It is shown to people: nothing in it may move their cursor or turn their text around.
	return typeof value === "string" && value.length <= maxTextLength && !/[\p{Cc}\p{Cf}]/u.test(value);
}

function isTextList(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every(isText);
}
