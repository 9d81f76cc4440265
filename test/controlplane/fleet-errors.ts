import { SetupError } from "../../demo/machine/setup-error.ts";

/** Thrown if programs built with Go are not available on this machine. A test run then skips the tests that need them. */
export class ProgramsUnavailableError extends SetupError {
	constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
		super(message, options);
		this.name = "ProgramsUnavailableError";
	}
}

/** Thrown if another process uses an address of the octet, or if all octets are taken. */
export class AddressInUseError extends SetupError {
	constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
		super(message, options);
		this.name = "AddressInUseError";
	}
}
