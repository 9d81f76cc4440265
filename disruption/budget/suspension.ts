// Writes and reads the annotation that says who suspended a budget, when and why. `kubectl xpdb suspend` writes it together with
// spec.suspend. It is unverified and only for people: decisions use spec.suspend alone (allowance.ts).
import { isRecord } from "../record.ts";

export const suspensionAnnotation = "xpdb.form3.tech/suspended";

/** In characters. With the words around it, plain text of this length fits an Event's note of 1,024 bytes. */
export const longestSuspensionReason = 500;

/** The version of the annotation's format. */
const version = 1;
const longestText = 1_024;
/** In characters. A longer annotation is ignored. */
export const longestSuspensionText = 4_096;

export interface Suspension {
	readonly by: string;
	/** ISO 8601, by the clock of the machine that suspended it. */
	readonly since: string;
	readonly reason?: string;
}

export function formatSuspension({ by, since, reason }: Suspension): string {
	return JSON.stringify({ version, by, since, ...(reason !== undefined && { reason }) });
}

/** Returns undefined if this version cannot read the annotation, because other software may have written it. */
export function parseSuspension(text: string): Suspension | undefined {
	if (text.length > longestSuspensionText) return undefined;
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
	if (!isRecord(value) || value["version"] !== version) return undefined;
	const { by, since, reason } = value;
	if (!isShort(by) || !isShort(since) || !Number.isFinite(Date.parse(since))) return undefined;
	if (reason !== undefined && !isShort(reason)) return undefined;
	return { by, since, ...(reason !== undefined && { reason }) };
}

function isShort(value: unknown): value is string {
	return typeof value === "string" && value.length <= longestText;
}
