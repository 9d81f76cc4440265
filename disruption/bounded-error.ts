// The base of errors whose messages quote foreign text.
import { indentMore } from "./printable.ts";
import { shortenTo } from "./quote.ts";

/** Room for a page of text. An API server that explains itself needs a few lines of it. */
export const longestMessage = 3_000;

/**
 * An error of bounded length: it keeps at most longestMessage characters of its message, whatever that quotes. All lines but the first are
 * indented, so that no line of a quoted text looks like another message.
 */
export abstract class BoundedError extends Error {
	/** `lines` is "own" if all quoted text is on one line, or comes from an error that is already indented. */
	constructor(message: string, options?: ErrorOptions, lines: "own" | "quoted" = "quoted") {
		const text = lines === "own" ? message : indentMore(message);
		super(shortenTo(text, longestMessage), options);
	}
}
