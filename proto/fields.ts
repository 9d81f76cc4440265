// Reads single fields strictly: if a message or a text is missing, or a value is out of range, the readers throw an error that names the
// field.
import { AgentProtocolError } from "../disruption/errors.ts";
import { oneLine } from "../disruption/printable.ts";
import { quote } from "../disruption/quote.ts";
import { isResourceVersion } from "../disruption/resource-version.ts";

/** Returns the value, or throws AgentProtocolError if it was not sent. */
export function required<T>(value: T | undefined, field: string): T {
	if (value === undefined) throw missing(field);
	return value;
}

/** Returns a text that is not empty. Throws AgentProtocolError otherwise, as all readers here do. */
export function requiredText(value: string, field: string): string {
	if (value === "") throw missing(field);
	return value;
}

/** Reads the name of an object or namespace. People see it and programs read it from output, so it must be printable on one line. */
export function requiredName(value: string, field: string): string {
	if (oneLine(value) === value) return requiredText(value, field);
	throw new AgentProtocolError(
		`cannot read message: ${field} has characters that are not allowed in names: ${quote(value)}`,
	);
}

/** Reads a whole number from `min`, small enough to be exact. */
export function wholeNumber(value: number, field: string, min = 0): number {
	if (!Number.isSafeInteger(value) || value < min) {
		throw new AgentProtocolError(`cannot read message: ${field} must be a whole number from ${min}, is ${value}`);
	}
	return value;
}

/** Reads a resourceVersion. It must be digits, because versions are compared as numbers of any length. */
export function resourceVersion(value: string, field: string): string {
	if (!isResourceVersion(value) || value.length > 40) {
		throw new AgentProtocolError(`cannot read message: ${field} must be a number, is ${quote(value)}`);
	}
	return value;
}

/** Reads one of the words that the protocol defines for this field. */
export function oneOf<T extends string>(words: readonly T[], value: string, field: string): T {
	const known = words.find((word) => word === value);
	if (known === undefined) {
		throw new AgentProtocolError(
			`cannot read message: ${field} must be one of ${words.join(", ")}, is ${quote(value)}`,
		);
	}
	return known;
}

function missing(field: string): AgentProtocolError {
	return new AgentProtocolError(`cannot read message: ${field} is missing`);
}
