// Describes in one line why a text in YAML or JSON cannot be parsed.
import { shortenTo } from "./quote.ts";

const longestProblem = 300;

/** Returns the first line of the error, without the excerpt that follows it. */
export function parserProblem(error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	if (/call stack/.test(message)) return "it is nested too deeply";
	return shortenTo(message.split("\n")[0] ?? "", longestProblem);
}
