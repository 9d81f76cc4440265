import { SetupError } from "../../demo/machine/setup-error.ts";

/** What is built with Go cannot be had on this machine; a test run skips what needs it by name and gives this message as the reason. */
export class ProgramsUnavailableError extends SetupError {
	constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
		super(message, options);
		this.name = "ProgramsUnavailableError";
	}
}

/** Another process listens where a cluster wanted to; another octet may be free. */
export class AddressInUseError extends SetupError {
	constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
		super(message, options);
		this.name = "AddressInUseError";
	}
}
