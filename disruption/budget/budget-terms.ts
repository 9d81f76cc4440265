// Writes what all members report of one budget as one text. A decision under that budget stands while this text is unchanged. The text
// contains all that decisions depend on: bound, selector, suspension and features, by member. With an unreadable spec it never equals the
// text of a grant, because no pod is granted under such a budget.
import { type BudgetName, formatBound, formatBudgetName, parseBudgetSpec } from "./budget.ts";
import type { MemberBudget } from "./cluster.ts";
import { InvalidBudgetError } from "../errors.ts";
import { formatSelector } from "./selector.ts";

export function budgetTerms(
	name: BudgetName,
	members: readonly { readonly clusterId: string; readonly budgets: readonly MemberBudget[] }[],
): string {
	const text = formatBudgetName(name);
	const terms = members.map(({ clusterId, budgets }) => {
		const found = budgets.find((budget) => formatBudgetName(budget.name) === text);
		return [clusterId, found ? specTerms(found.spec) : "none"];
	});
	return JSON.stringify(terms.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)));
}

function specTerms(spec: unknown): string {
	try {
		const { bound, selector, suspended, features } = parseBudgetSpec(spec);
		return JSON.stringify([formatBound(bound), formatSelector(selector), suspended, features]);
	} catch (error) {
		if (!(error instanceof InvalidBudgetError)) throw error;
		return "unreadable";
	}
}
