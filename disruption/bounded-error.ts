// Errors whose messages quote what others wrote.
import { indentMore } from "./printable.ts";
import { shortenTo } from "./quote.ts";

/** Room for a page of text: an API server that explains itself needs a few lines of it. */
export const longestMessage = 3_000;

/**
 * An error of bounded length: at most longestMessage of its message is kept, whatever it quotes. Quoted text cannot start a
 * line of its own: its further lines are indented, so that none of them looks like another message.
 */
export abstract class BoundedError extends Error {
	/** `lines`: "own" if everything that it quotes is on one line, or comes from an error that is already indented. */
	constructor(message: string, options?: ErrorOptions, lines: "own" | "quoted" = "quoted") {
		const text = lines === "own" ? message : indentMore(message);
		super(shortenTo(text, longestMessage), options);
	}
}
