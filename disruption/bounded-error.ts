// The base of errors whose messages quote foreign text.
import { indentMore } from "./printable.ts";
import { shortenTo } from "./quote.ts";

/** In characters. An API server's explanation takes a few lines. */
export const longestMessage = 3_000;

/**
 * An error that keeps at most longestMessage characters of its message. All lines but the first are indented, so that no line of quoted
 * text looks like a message of its own.
 */
export abstract class BoundedError extends Error {
	/** `lines` is "own" if all quoted text is on one line, or comes from an error that is already indented. */
	constructor(message: string, options?: ErrorOptions, lines: "own" | "quoted" = "quoted") {
		const text = lines === "own" ? message : indentMore(message);
		super(shortenTo(text, longestMessage), options);
	}
}
