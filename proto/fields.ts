// Reads single fields strictly. If a value is missing or not allowed, the readers throw an AgentProtocolError that names the field.
import { AgentProtocolError } from "../disruption/errors.ts";
import { oneLine } from "../disruption/printable.ts";
import { quote } from "../disruption/quote.ts";
import { isResourceVersion } from "../disruption/resource-version.ts";

export function required<T>(value: T | undefined, field: string): T {
	if (value === undefined) throw missing(field);
	return value;
}

export function requiredText(value: string, field: string): string {
	if (value === "") throw missing(field);
	return value;
}

/** The name of an object or namespace must be printable on one line, because people see it and programs read it from output. */
export function requiredName(value: string, field: string): string {
	if (oneLine(value) === value) return requiredText(value, field);
	throw new AgentProtocolError(
		`cannot read message: ${field} has characters that are not allowed in names: ${quote(value)}`,
	);
}

/** Reads a whole number from `min` that a JavaScript number represents exactly. */
export function wholeNumber(value: number, field: string, min = 0): number {
	if (!Number.isSafeInteger(value) || value < min) {
		throw new AgentProtocolError(`cannot read message: ${field} must be a whole number from ${min}, is ${value}`);
	}
	return value;
}

/** Allows only digits, because versions are compared as numbers. */
export function resourceVersion(value: string, field: string): string {
	if (!isResourceVersion(value) || value.length > 40) {
		throw new AgentProtocolError(`cannot read message: ${field} must be a number, is ${quote(value)}`);
	}
	return value;
}

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
