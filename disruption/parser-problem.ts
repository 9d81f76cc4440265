// A parser's problem with a text that people wrote, in one line.
import { shortenTo } from "./quote.ts";

const longestProblem = 300;

/** The first line of the error, without the excerpt that follows it. For a text that is nested too deeply, a sentence that says so. */
export function parserProblem(error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	if (/call stack/.test(message)) return "it is nested too deeply";
	return shortenTo(message.split("\n")[0] ?? "", longestProblem);
}
