// Predicts what a suspension in all members would do, with the same decision as every round. A budget that cannot be read, or whose
// selectors differ, blocks every pod even if it is suspended.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { judgeBudget } from "../../disruption/budget/decide.ts";
import { readSpecs } from "../../disruption/budget/allowance.ts";
import { isRecord } from "../../disruption/record.ts";
import type { Fleet } from "./fleet.ts";

/** Returns why the budget would still block evictions; undefined if it would not. */
export async function suspensionProblem(
	fleet: Pick<Fleet, "members" | "listBudgets">,
	name: BudgetName,
): Promise<string | undefined> {
	const { members } = fleet;
	const read = readSpecs(formatBudgetName(name), await fleet.listBudgets([name.namespace]));
	if (read.kind === "refused") return read.message;
	const selector = read.specs[0]?.spec.selector;
	if (!selector) return `budget ${formatBudgetName(name)} is not known to the agents yet`;
	const counts = await Promise.all(
		members.map(async (member) => {
			const count = await member.look({ budget: name, selector, candidates: [] });
			const budgets = count.budgets.map((budget) =>
				formatBudgetName(budget.name) === formatBudgetName(name) && isRecord(budget.spec)
					? { ...budget, spec: { ...budget.spec, suspend: true } }
					: budget,
			);
			return { ...count, budgets };
		}),
	);
	const memberIds = members.map(({ id }) => id);
	const judged = judgeBudget(memberIds, { budget: { name, selector }, counts });
	if (judged.kind !== "state") return judged.message;
	return judged.state.need === undefined ? undefined : `budget ${formatBudgetName(name)} would still apply`;
}
