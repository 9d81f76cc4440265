// Formats and parses the annotation in which a node remembers its drain. Every user who may drain can see the drain, resume it or take its
// cordons back, from any machine. The annotation contains no secret, and its size is bounded. Any client that may patch the node can write
// it, including the node's kubelet. So a user must type flags that could do harm again.
import { randomBytes } from "node:crypto";
import { isRecord } from "../../disruption/record.ts";

export const operationAnnotation = "xpdb.form3.tech/operation";

/** Version 2 has a holder, version 1 has none. A later version is not understood, and undo and resume do not touch it. */
const version = 2;
const maxTextLength = 1_024;

export type FlagValue = string | number | boolean;

export interface Operation {
	readonly id: string;
	/**
	 * The run that drains the node: 16 random hex digits. A resumed operation has the same id and another holder. Version 0.1 does not
	 * write it.
	 */
	readonly holder?: string;
	/** A drained node keeps the annotation until xpdb uncordons it, so that undo can find the node. */
	readonly state: "draining" | "drained";
	/** Who started or last resumed it. */
	readonly by: string;
	/** When it began, in ISO 8601. */
	readonly since: string;
	/** The number of its nodes, in all clusters. */
	readonly nodes: number;
	/** The hash of the fleet whose budgets it obeys. "" if there is no fleet. */
	readonly fleet: string;
	/** Flags needed to resume it, by name. Durations are in milliseconds. */
	readonly flags: Readonly<Record<string, FlagValue>>;
	/** Names of flags that it was given and that must be typed again. */
	readonly typedAgain: readonly string[];
	/** Whether the node was cordoned before by another user or tool, so that undo leaves it cordoned. */
	readonly cordonedBefore: boolean;
}

export type OperationReading =
	| { readonly kind: "operation"; readonly operation: Operation }
	| { readonly kind: "later"; readonly version: number }
	| { readonly kind: "garbled" };

/** 24 bits: enough to keep the few unfinished runs of a fleet apart. */
export function newOperationId(): string {
	return randomBytes(3).toString("hex");
}

/** 64 bits: no two runs get the same holder. */
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

/** Whether the annotation can keep this value. A value that is too long must be typed again. */
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
	// The text is shown to people, so it must not contain characters that move the cursor or reverse text.
	return typeof value === "string" && value.length <= maxTextLength && !/[\p{Cc}\p{Cf}]/u.test(value);
}

function isTextList(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every(isText);
}
