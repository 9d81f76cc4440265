// Describes in one line what a parser could not read in a text that people wrote.
import { shortenTo } from "./quote.ts";

const longestProblem = 300;

/** Returns the first line of the error, without the excerpt that follows it. */
export function parserProblem(error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	if (/call stack/.test(message)) return "it is nested too deeply";
	return shortenTo(message.split("\n")[0] ?? "", longestProblem);
}
