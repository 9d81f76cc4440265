import { budgetApi } from "../../disruption/budget/budget.ts";
import { quote } from "../../disruption/quote.ts";
import { UsageError } from "../terminal/errors.ts";

/**
 * Returns the budget's name from NAME, or from TYPE/NAME as kubectl accepts it and as `budgets -o name` prints it. Throws UsageError for
 * anything else.
 */
export function budgetWord(command: string, words: readonly string[]): string {
	const see = `See 'kubectl xpdb ${command} --help' for usage.`;
	const [word = ""] = words;
	if (words.length !== 1) throw new UsageError(`USAGE: ${command} BUDGET [flags]`, see);
	const [, type, name = ""] = /^(?:([^/]*)\/)?([^/]*)$/.exec(word) ?? [];
	if (type !== undefined && !typeNames.has(type.toLowerCase())) {
		// NAMESPACE/NAME is how screens, waits and summaries show a budget, so users copy it.
		const help = name === "" ? see : `Give the namespace as a flag: kubectl xpdb ${command} ${name} -n ${type}`;
		throw new UsageError(`${quote(word)} is not a budget: write NAME or xpdb/NAME`, help);
	}
	if (name === "") throw new UsageError("resource name may not be empty", see);
	return name;
}

const { group, version, resource } = budgetApi;
const singular = "xpoddisruptionbudget";
const typeNames: ReadonlySet<string> = new Set(
	["xpdb", singular, resource].flatMap((type) => [type, `${type}.${group}`, `${type}.${version}.${group}`]),
);
