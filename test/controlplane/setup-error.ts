/** Something that the person at the keyboard can put right: printed as message and hint, never with a stack. */
export class SetupError extends Error {
	readonly hint: string | undefined;

	constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
		super(message, { cause: options.cause });
		this.name = "SetupError";
		this.hint = options.hint;
	}
}

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

export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** The code of a Node system error such as "ENOENT". */
export function codeOf(error: unknown): string | undefined {
	return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
