/** A problem that the user can fix. It is printed as a message and a hint, without a stack. */
export class SetupError extends Error {
	readonly hint: string | undefined;

	constructor(message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
		super(message, { cause: options.cause });
		this.name = "SetupError";
		this.hint = options.hint;
	}
}

export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** Returns the code of a Node system error, such as "ENOENT". Undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
	return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
