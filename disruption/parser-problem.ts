// What a parser says of a text that people wrote, in one line.
import { shortenTo } from "./quote.ts";

const longestProblem = 300;

/** The first line of the error, without the excerpt that follows it; a text that is too deep for the parser, in words. */
export function parserProblem(error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	if (/call stack/.test(message)) return "it is nested too deeply";
	return shortenTo(message.split("\n")[0] ?? "", longestProblem);
}
