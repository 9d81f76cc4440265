import { SetupError } from "../../demo/machine/setup-error.ts";

/** Real control planes cannot run on this machine at all; a test run skips them by name and gives this message as the reason. */
export class ControlPlaneUnavailableError extends SetupError {
	constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
		super(message, options);
		this.name = "ControlPlaneUnavailableError";
	}
}

/** Another process listens where a cluster wanted to; another octet may be free. */
export class AddressInUseError extends SetupError {
	constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
		super(message, options);
		this.name = "AddressInUseError";
	}
}
