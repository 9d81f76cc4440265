// Errors whose messages quote what others wrote.
import { indentMore } from "./printable.ts";
import { shortenTo } from "./quote.ts";

/** Room for a page of text: an API server that explains itself needs a few lines of it. */
export const longestMessage = 3_000;

/**
 * An error with an end: whatever was quoted in its message, no more than longestMessage of it is kept. And one in which a quoted text begins no
 * line of its own: its further lines are indented, so that none of them looks like another message.
 */
export abstract class BoundedError extends Error {
	/** `lines`: "own" where what it quotes is on one line, or from an error that is indented. */
	constructor(message: string, options?: ErrorOptions, lines: "own" | "quoted" = "quoted") {
		const text = lines === "own" ? message : indentMore(message);
		super(shortenTo(text, longestMessage), options);
	}
}
