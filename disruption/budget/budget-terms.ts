// What the members report of a budget, as one text: while the text is the same, a decision that was made under that budget
// stands. The text has all that decisions depend on (bound, selector, suspension, features), and which member reports it. A
// budget that some member has but that cannot be read never equals a counted one, because no pod is granted under such a
// budget.
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
