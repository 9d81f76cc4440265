// Builds the document of `kubectl xpdb budgets -o json` (schemas/budgets-v1.json). Unknown values are null.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { boundText, differences } from "../fleet/budget-members.ts";
import type { BudgetRow, PodOfBudget } from "../fleet/budget-table.ts";
import { readHolder } from "../fleet/holder-identity.ts";

export const budgetsSchema = "xpdb.budgets/1.0";

export function budgetsDocument(
	rows: readonly BudgetRow[],
	{ problems, clusters, gone = [] }: DocumentOptions,
): object {
	return {
		schema: budgetsSchema,
		items: rows.map((row) => budgetItem(row, clusters)),
		...(gone.length > 0 && { gone: gone.map(formatBudgetName) }),
		problems,
	};
}

interface DocumentOptions {
	readonly problems: readonly string[];
	readonly clusters: readonly string[];
	/** Only in a watch. */
	readonly gone?: readonly BudgetName[];
}

export function budgetItem(row: BudgetRow, names: readonly string[]): object {
	const { namespace, name, allowed, healthy, need, expected, suspended, perCluster, members, usedBy, problem } = row;
	const differ = differences(members, names);
	return {
		namespace,
		name,
		allowed: allowed ?? null,
		healthy: healthy ?? null,
		need: need ?? null,
		expected: expected ?? null,
		suspended,
		bound: boundText(members),
		...(differ !== undefined && { differs: differ }),
		clusters: names.map((cluster) => {
			const counts = perCluster.get(cluster);
			const member = members.find((each) => each.cluster === cluster);
			return {
				name: cluster,
				healthy: counts?.healthy ?? null,
				expected: counts?.expected ?? null,
				...(counts?.mislabelled !== undefined && { mislabelled: counts.mislabelled }),
				bound: member?.bound ?? null,
				suspended: member ? member.suspended : null,
				...(member?.suspension && { suspension: member.suspension }),
			};
		}),
		usedBy: usedBy.map(userItem),
		...(problem !== undefined && { problem }),
	};
}

export function userItem({
	cluster,
	namespace,
	name,
	why,
	state,
	message,
	holder,
	account,
	sinceSeconds,
	replacement,
}: PodOfBudget): object {
	const since = new Date((sinceSeconds ?? Number.NaN) * 1_000);
	// Another machine wrote the time, so it may not be a valid date.
	const isDate = Number.isFinite(since.getTime());
	return {
		cluster,
		pod: `${namespace}/${name}`,
		why,
		state: state ?? why,
		...(isDate && { since: since.toISOString() }),
		...(message !== undefined && { message }),
		...(holder !== undefined && { holder, ...readHolder(holder) }),
		...(account !== undefined && { account }),
		...(replacement !== undefined && { replacement }),
	};
}
